import type { LocalCommand } from '../definition.ts';
import type { CliEnvironment } from '../environment.ts';
import { CliError, exitCodes } from '../errors.ts';
import { cliLimits } from '../limits.ts';
import { bytesText } from '../render/bytes.ts';
import type { MigrationStep } from './engines.ts';
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
    const stores = await readStoreOptions(environment, options);
    const progress = new Progress(environment);
    const migrated = await environment.engines
      .migrate({ ...stores, to }, (step, bytes) => progress.show(step, bytes))
      .finally(() => progress.end());
    const { index, rows, hash, from, to: target } = migrated;
    const { stdout } = environment;
    if (options.flag('json')) {
      const value = { Index: index, Rows: rows, Hash: hash, From: from, To: target };
      await stdout.write(`${JSON.stringify(value, null, 2)}\n`);
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

/** A line for each step; at a terminal with the bytes so far. */
class Progress {
  readonly #environment: Pick<CliEnvironment, 'stderr' | 'clock'>;
  #step: MigrationStep | undefined;
  #shownMs = 0;

  constructor(environment: Pick<CliEnvironment, 'stderr' | 'clock'>) {
    this.#environment = environment;
  }

  show(step: MigrationStep, bytes: number): void {
    const { stderr, clock } = this.#environment;
    const nowMs = clock.monotonicMs();
    if (step !== this.#step) {
      this.end();
      this.#step = step;
      void stderr.write(stderr.isTerminal ? sentences[step] : `${sentences[step]}\n`);
    } else if (stderr.isTerminal && nowMs - this.#shownMs >= cliLimits.snapshot.progressMs) {
      this.#shownMs = nowMs;
      void stderr.write(`\r${sentences[step]}: ${bytesText(bytes)} `);
    }
  }

  end(): void {
    const { stderr } = this.#environment;
    if (this.#step !== undefined && stderr.isTerminal) void stderr.write('\n');
    this.#step = undefined;
  }
}
