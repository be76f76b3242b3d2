import type { ChainStep } from '../../model/discovery-chain/discovery-chain.ts';
import type { ChainAnswer } from '../../sdk/discovery-chains.ts';
import type { Context } from '../context.ts';
import { argument, type ClientCommand } from '../definition.ts';
import type { Options } from '../options.ts';
import { oneLine, orDash } from '../render/text.ts';
import { chainRows } from './chain-rows.ts';

export const configChain: ClientCommand = {
  words: ['config', 'chain'],
  summary: 'Show the discovery chain of a service.',
  definition: {
    isPaged: true,
    arguments: [argument('SERVICE', 'Name of the service.', 'service')],
    options: [
      { name: 'explain', description: 'Show every decision, and the entry that made it.' },
      {
        name: 'datacenter',
        value: 'NAME',
        description: 'The datacenter of the chain; that of the server by default.',
      },
      {
        name: 'protocol',
        value: 'NAME',
        description: 'Use this protocol instead of that of the entries.',
      },
      {
        name: 'connect-timeout',
        value: 'DURATION',
        description: 'Use this timeout for connecting instead of that of the entries: 3s.',
      },
      {
        name: 'mesh-gateway',
        value: 'MODE',
        choices: ['none', 'local', 'remote'],
        description: 'Use this gateway mode instead of that of the entries.',
      },
    ],
    details:
      'Compiles the routing entries of a service: its service-router first, then service-splitters,\n' +
      'then service-resolvers. Without an entry, all traffic goes to the service itself.',
  },
  async run(context, [service], options) {
    const { client, show } = context;
    const { value } = await client.discoveryChains.read(service!, {
      datacenter: options.text('datacenter'),
      partition: context.partition,
      explain: options.flag('explain'),
      overrides: overridesIn(options),
    });
    return show(value, () => print(context, value));
  },
};

function overridesIn(options: Options) {
  const protocol = options.text('protocol');
  const timeout = options.text('connectTimeout');
  const mode = options.text('meshGateway');
  if (protocol === undefined && timeout === undefined && mode === undefined) return undefined;
  return {
    ...(protocol !== undefined && { OverrideProtocol: protocol }),
    // The server reads durations as text, and refuses an invalid one.
    ...(timeout !== undefined && { OverrideConnectTimeout: timeout as unknown as number }),
    ...(mode !== undefined && { OverrideMeshGateway: { Mode: mode } }),
  };
}

async function print({ screen }: Context, { Chain, Steps }: ChainAnswer): Promise<void> {
  await screen.fields([
    ['Service', oneLine(Chain.ServiceName)],
    ['Datacenter', oneLine(Chain.Datacenter)],
    ['Protocol', oneLine(Chain.Protocol)],
    ['Entries', Chain.Default ? 'none that route, split or resolve' : 'see below'],
  ]);
  await screen.line();
  await screen.table(['Node', 'What', 'Leads to'], chainRows(Chain));
  if (Steps === undefined) return;
  await screen.line();
  await screen.table(
    ['Step', 'Decided by', 'What was decided'],
    Steps.map((step, index) => [
      String(index + 1),
      orDash(entryWords(step)),
      oneLine(step.Sentence),
    ]),
  );
}

const entryWords = ({ Entry }: ChainStep): string =>
  Entry === null ? '' : oneLine(`${Entry.Kind}/${Entry.Name}`);
