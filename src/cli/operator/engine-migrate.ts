import { answerPrinter } from '../answer.ts';
import type { LocalCommand } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import type { MigrationStep } from './engines.ts';
import { Progress } from './progress.ts';
import { readStoreOptions, storeOptions } from './store-options.ts';

const targets = ['etcd', 'sqlite'] as const;

export const engineMigrate: LocalCommand = {
  words: ['operator', 'engine', 'migrate'],
  summary: 'Move the state between the data directory and etcd.',
  definition: {
    options: [
      {
        name: 'to',
        value: 'WORD',
        choices: targets,
        description: 'Where the state goes: to etcd, or to the data directory (sqlite).',
      },
      ...storeOptions,
    ],
    details: `Stop every agent of the cluster first, and run it on the machine of the data directory. The copy is read back
and compared by a hash of the whole state. Then the store that the state came from is sealed: an agent that is started on
it refuses and says where the state is. A target that holds another state, or that a server uses, is refused. Interrupted,
the command is run again. The root key is not moved: agents on the new store need the same.

Examples:
  roster operator engine migrate --to etcd --data-dir /var/lib/roster --etcd-endpoints 10.0.0.7:2379
  roster operator engine migrate --to sqlite --config /etc/roster/agent.json`,
  },
  async runLocally(environment, _words, options) {
    const to = targets.find((target) => target === options.text('to'));
    if (to === undefined) throw new CliError('Say where the state goes: --to etcd or --to sqlite.');
    const answers = await answerPrinter(environment, options);
    const stores = await readStoreOptions(environment, options);
    const progress = new Progress(environment, sentences);
    const migrated = await environment.engines
      .migrate({ ...stores, to }, (step, bytes) => progress.show(step, bytes))
      .finally(() => progress.end());
    const { index, rows, hash, from, to: target } = migrated;
    const { stdout } = environment;
    if (answers.isJson) {
      await answers.json({ Index: index, Rows: rows, Hash: hash, From: from, To: target });
      return exitCodes.ok;
    }
    await stdout.write(
      `Moved the state at index ${index} (${rows} rows) to ${target}.\n` +
        `Its hash is ${hash} on both sides.\n` +
        `Sealed ${from}: no agent starts on it.\n`,
    );
    return exitCodes.ok;
  },
};

const sentences: Readonly<Record<MigrationStep, string>> = {
  read: 'Reading the state',
  write: 'Writing the copy',
  compare: 'Reading the copy back',
};
