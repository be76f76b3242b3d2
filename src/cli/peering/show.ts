import type { Peering } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { agoText, oneLine, orDash, plural } from '../render/text.ts';
import { advice, nameArgument, nameOption, peerName } from './words.ts';

export const peeringRead: ClientCommand = {
  definition: { arguments: [nameArgument], options: [nameOption] },
  async run(context, [word], options) {
    const { partition } = context;
    const { value } = await context.client.peerings.read(peerName(word, options), { partition });
    if (context.isJson) await context.json(value);
    else await print(context, value);
    return exitCodes.ok;
  },
};

async function print({ screen, nowMs }: Context, peering: Peering): Promise<void> {
  const { StreamStatus: stream, Remote, Meta, DeletedAt } = peering;
  await screen.fields([
    ['Name', oneLine(peering.Name)],
    ['ID', peering.ID],
    ['State', screen.status(peering.State)],
    ...(DeletedAt === null ? [] : [['Deleted', agoText(DeletedAt, nowMs)] as const]),
    ['Partition', oneLine(peering.Partition)],
    ['Peer ID', orDash(peering.PeerID)],
    ['Peer server name', orDash(peering.PeerServerName)],
    ['Peer addresses', orDash(peering.PeerServerAddresses.join(', '))],
    ['Peer partition', orDash(Remote.Partition)],
    ['Peer datacenter', orDash(Remote.Datacenter)],
    ['Imported', names(stream.ImportedServices)],
    ['Exported', names(stream.ExportedServices)],
    ['Last heartbeat', agoText(stream.LastHeartbeat, nowMs)],
    ['Last received', agoText(stream.LastReceive, nowMs)],
    ['Last sent', agoText(stream.LastSend, nowMs)],
    ...(stream.LastError === '' ? [] : [['Last error', oneLine(stream.LastError)] as const]),
    ...Object.entries(Meta ?? {}).map(
      ([name, value]) => [`Meta.${oneLine(name)}`, oneLine(value)] as const,
    ),
  ]);
  const hint = advice(peering);
  if (hint !== undefined) await screen.line(`\n${oneLine(hint)}`);
}

const shownMax = 10;

function names(services: readonly string[] | null): string {
  if (services === null || services.length === 0) return '0 services';
  const shown = services.slice(0, shownMax).map(oneLine).join(', ');
  return `${plural(services.length, 'service')}: ${shown}${services.length > shownMax ? ', …' : ''}`;
}

export const peeringList: ClientCommand = {
  definition: {
    options: [
      {
        name: 'filter',
        value: 'EXPRESSION',
        description: 'Only those that it is true of: \'State != "ACTIVE"\'.',
      },
    ],
  },
  async run({ partition, client, screen, isJson, json, nowMs }, _words, options) {
    const filter = options.text('filter');
    const { value } = await client.peerings.list({ filter, partition });
    if (isJson) await json(value);
    else if (value.length === 0) await screen.line('There are no peerings.');
    else {
      await screen.table(
        ['Name', 'State', 'Imported', 'Exported', 'Last received', 'Meta'],
        value.map(({ Name, State, StreamStatus, Meta }) => [
          oneLine(Name),
          screen.status(State),
          String(StreamStatus.ImportedServices?.length ?? 0),
          String(StreamStatus.ExportedServices.length),
          agoText(StreamStatus.LastReceive, nowMs),
          oneLine(
            Object.entries(Meta ?? {})
              .map(([key, text]) => `${key}=${text}`)
              .join(', '),
          ) || '-',
        ]),
      );
      if (value.some(({ State }) => State === 'FAILING' || State === 'TERMINATED')) {
        await screen.line('\n"roster peering read NAME" says why one is not ACTIVE.');
      }
    }
    return exitCodes.ok;
  },
};
