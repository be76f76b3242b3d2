import type { Peering } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { cliLimits } from '../limits.ts';
import { filterQuery, listCommand } from '../list-command.ts';
import { printRecord } from '../noun-commands.ts';
import { pairsText } from '../pairs.ts';
import { agoText, oneLine, orDash, plural } from '../render/text.ts';
import { advice, nameArgument } from './words.ts';

export const peeringRead: ClientCommand = {
  words: ['peering', 'read'],
  summary: 'Show a peering.',
  definition: { isPaged: true, arguments: [nameArgument] },
  async run(context, [name]) {
    const { partition } = context;
    const { value } = await context.client.peerings.read(name!, { partition });
    return printRecord(context, value, print);
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

function names(services: readonly string[] | null): string {
  if (services === null || services.length === 0) return '0 services';
  const shown = services.slice(0, cliLimits.peering.servicesMax).map(oneLine).join(', ');
  return `${plural(services.length, 'service')}: ${shown}${services.length > cliLimits.peering.servicesMax ? ', …' : ''}`;
}

export const peeringList = listCommand({
  words: ['peering', 'list'],
  summary: 'List the peerings.',
  request: 'GET /v1/peerings',
  query: { filter: filterQuery('State != "ACTIVE"') },
  empty: 'There are no peerings.',
  columns: {
    Name: ({ Name }) => oneLine(Name),
    State: ({ State }, { screen }) => screen.status(State),
    Imported: ({ StreamStatus }) => String(StreamStatus.ImportedServices?.length ?? 0),
    Exported: ({ StreamStatus }) => String(StreamStatus.ExportedServices.length),
    'Last received': ({ StreamStatus }, { nowMs }) => agoText(StreamStatus.LastReceive, nowMs),
    Meta: ({ Meta }) => oneLine(pairsText(Meta)) || '-',
  },
  hint: (peerings) =>
    peerings.some(({ State }) => State === 'FAILING' || State === 'TERMINATED')
      ? '\n"roster peering read NAME" says why a peering is not ACTIVE.'
      : undefined,
});
