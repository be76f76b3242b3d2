import type { ChainStep } from '../../model/discovery-chain/discovery-chain.ts';
import type { ChainAnswer } from '../../sdk/discovery-chains.ts';
import { argument } from '../acl/links.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import type { Options } from '../options.ts';
import { oneLine, orDash } from '../render/text.ts';
import { chainRows } from './chain-rows.ts';

export const configChain: ClientCommand = {
  definition: {
    arguments: [argument('SERVICE', 'Name of the service.', 'service')],
    options: [
      { name: 'explain', description: 'Tell what was decided, step by step, and by which entry.' },
      {
        name: 'datacenter',
        value: 'NAME',
        description: 'The datacenter that the chain is for; that of the server by default.',
      },
      {
        name: 'protocol',
        value: 'NAME',
        description: 'Speak this instead of what the entries say.',
      },
      {
        name: 'connect-timeout',
        value: 'DURATION',
        description: 'Connecting may take this long instead: 3s.',
      },
      {
        name: 'mesh-gateway',
        value: 'MODE',
        choices: ['none', 'local', 'remote'],
        description: 'The gateway to reach targets by instead.',
      },
    ],
    details:
      'What the routing entries of a service come to: its service-router first, then service-splitters,\n' +
      'then service-resolvers. Where there is no entry, everything goes to the service itself.',
  },
  async run(context, [service], options) {
    const { client, isJson, json } = context;
    const { value } = await client.discoveryChains.read(service!, {
      datacenter: options.text('datacenter'),
      partition: context.partition,
      explain: options.flag('explain'),
      overrides: overridesIn(options),
    });
    if (isJson) await json(value);
    else await print(context, value);
    return exitCodes.ok;
  },
};

function overridesIn(options: Options) {
  const protocol = options.text('protocol');
  const timeout = options.text('connectTimeout');
  const mode = options.text('meshGateway');
  if (protocol === undefined && timeout === undefined && mode === undefined) return undefined;
  return {
    ...(protocol !== undefined && { OverrideProtocol: protocol }),
    // Durations are read as text, too; what is none, the server refuses.
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
