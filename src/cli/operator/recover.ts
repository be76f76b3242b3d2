import { answerPrinter } from '../answer.ts';
import type { LocalCommand } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { readStoreOptions, storeOptions } from './store-options.ts';

const sources = ['etcd', 'disk'] as const;

export const operatorRecover: LocalCommand = {
  words: ['operator', 'recover'],
  summary: 'Recover servers after their log in etcd has diverged.',
  definition: {
    confirms: () => 'Go on from this state? What the other has more is lost.',
    options: [
      {
        name: 'from',
        value: 'WORD',
        choices: sources,
        description:
          'The state that goes on: that of etcd, or the copy on the disk of this server.',
      },
      ...storeOptions,
    ],
    details: `The log has diverged if etcd was restored from an older backup, or is another etcd: then servers neither lead nor
follow. Stop all of them and choose what goes on: with "etcd" all that was written after the backup is lost, with "disk"
nothing that this server had. Run it on the server that had the highest index, and then with "--from etcd" on every other
server. It is a restore: nodes keep for half an hour what the state does not know, see "roster operator snapshot restored".

Examples:
  roster operator recover --from disk --config /etc/roster/agent.json
  roster operator recover --from etcd --data-dir /var/lib/roster --etcd-endpoints 10.0.0.7:2379`,
  },
  async runLocally(environment, _words, options) {
    const from = sources.find((source) => source === options.text('from'));
    if (from === undefined)
      throw new CliError('Say which state goes on: --from etcd or --from disk.');
    const answers = await answerPrinter(environment, options);
    const stores = await readStoreOptions(environment, options);
    const recovered = await environment.engines.recover({ ...stores, from });
    const { from: before, index, wasRecovered, to } = recovered;
    const { stdout } = environment;
    if (answers.isJson) {
      await answers.json({ From: before, Index: index, WasRecovered: wasRecovered, To: to });
    } else if (wasRecovered) {
      await stdout.write(
        `This server goes on from index ${index} of ${to}, which was recovered before.\n`,
      );
    } else {
      await stdout.write(
        `Recovered ${to} from ${from}: the state at index ${before} goes on at index ${index}.\n` +
          'Run "roster operator recover --from etcd" on every other server. Then start them.\n',
      );
    }
    return exitCodes.ok;
  },
};
