import { deviceKey, type NodeDevice } from '../../model/node/device.ts';
import type { NodeUsage } from '../../model/node/node-usage.ts';
import type { NodeListItem, PresentedNode } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, filterOption, verbose } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { resolveNode } from '../nouns.ts';
import type { Options } from '../options.ts';
import { allocationColumns, printAllocationTable } from '../render/allocation-table.ts';
import { bytesText, percentText } from '../render/bytes.ts';
import { agoText, oneLine, orDash, plural, span } from '../render/text.ts';
import { deadlineText } from './drain-text.ts';

export const nodeStatus: ClientCommand = {
  words: ['node', 'status'],
  summary: 'List the nodes, or show a node.',
  definition: {
    isPaged: true,
    arguments: [
      {
        name: 'NODE',
        kind: 'node',
        isRequired: false,
        description: 'Id of the node, 8 or more characters of it, or its name. Default: all nodes.',
      },
    ],
    options: [
      verbose,
      { name: 'self', description: 'Show the node of the agent that is asked.' },
      { name: 'stats', description: 'Show the current usage of a node.' },
      { name: 'allocs', description: 'Show the number of running allocations in the list.' },
      { name: 'os', description: 'Show the operating systems in the list.' },
      {
        ...filterOption,
        description: `Only nodes that match the expression, such as 'Status == "ready"'.`,
      },
    ],
  },
  async run(context, [given], options) {
    const isSelf = options.flag('self');
    if (isSelf && given !== undefined) {
      throw new CliError('--self names a node: leave NODE out, or --self.');
    }
    if (given === undefined && !isSelf) return listNodes(context, options);
    const id = given === undefined ? await ownNode(context) : await resolveNode(context, given);
    const { value: node } = await context.client.nodes.read(id);
    const { value: allocations } = await context.client.nodes.allocations(id);
    const usage = options.flag('stats') ? (await context.client.nodes.usage(id)).value : undefined;
    if (context.isJson) {
      await context.json({ Node: node, Allocations: allocations, ...(usage && { Stats: usage }) });
      return exitCodes.ok;
    }
    await showNode(context, node);
    if (usage !== undefined) await printUsage(context, usage);
    await context.screen.title('Allocations');
    const { Node: _, ...columns } = allocationColumns;
    if (allocations.length > 0) await printAllocationTable(context, allocations, columns);
    else await context.screen.line('None.');
    if (context.isVerbose) await printAttributes(context, node);
    return exitCodes.ok;
  },
};

/** The node of the agent that is asked. @throws CliError */
async function ownNode({ client }: Context): Promise<string> {
  const { NodeID } = (await client.agent.self()).value as { readonly NodeID?: string };
  if (NodeID) return NodeID;
  throw new CliError('The agent that is asked is a server alone: no node is beside it.', {
    hint: '"roster node status" lists the nodes.',
  });
}

async function listNodes(context: Context, options: Options): Promise<number> {
  const { client, isJson, json, screen } = context;
  const os = options.flag('os');
  const { value: nodes } = await client.nodes.list({ filter: options.text('filter'), os });
  if (isJson) await json(nodes);
  else if (nodes.length > 0) {
    await printNodes(context, nodes, {
      os,
      running: options.flag('allocs') ? await countRunning(context) : undefined,
    });
  } else if (options.text('filter') === undefined) {
    await screen.line('There are no nodes. "roster agent --dev" starts a server with one.');
  } else await screen.line('No node fits the filter.');
  return exitCodes.ok;
}

interface Columns {
  readonly os?: boolean;
  /** The number of running allocations, by node. */
  readonly running?: ReadonlyMap<string, number> | undefined;
}

/** The list of nodes of `node status` and `node pool nodes`. */
export async function printNodes(
  { screen, id }: Context,
  nodes: readonly NodeListItem[],
  { os = false, running }: Columns = {},
): Promise<void> {
  const osOf = ({ Attributes }: NodeListItem) =>
    `${Attributes?.['os.name'] ?? ''} ${Attributes?.['os.version'] ?? ''}`.trim();
  await screen.table(
    [
      'ID',
      'Name',
      'Datacenter',
      'Pool',
      'Class',
      ...(os ? ['OS'] : []),
      'Drain',
      'Eligibility',
      'Status',
      ...(running ? ['Running'] : []),
    ],
    nodes.map((node) => [
      id(node.ID),
      oneLine(node.Name),
      oneLine(node.Datacenter),
      oneLine(node.NodePool),
      orDash(node.NodeClass),
      ...(os ? [orDash(osOf(node))] : []),
      String(node.Drain),
      node.SchedulingEligibility,
      screen.status(node.Status),
      ...(running ? [String(running.get(node.ID) ?? 0)] : []),
    ]),
  );
}

async function countRunning({ client }: Context): Promise<ReadonlyMap<string, number>> {
  const filter = 'ClientStatus == "running"';
  const { value } = await client.allocations.list({ filter, namespace: '*', taskStates: false });
  const counts = new Map<string, number>();
  for (const { NodeID } of value) counts.set(NodeID, (counts.get(NodeID) ?? 0) + 1);
  return counts;
}

async function showNode({ screen, nowMs }: Context, node: PresentedNode): Promise<void> {
  const { Cpu, Memory, Disk } = node.NodeResources;
  const because = node.StatusDescription === '' ? '' : ` (${oneLine(node.StatusDescription)})`;
  await screen.fields([
    ['ID', node.ID],
    ['Name', oneLine(node.Name)],
    ['Status', screen.status(node.Status) + because],
    ['Eligibility', node.SchedulingEligibility + (node.Drain ? ' (draining)' : '')],
    ['Datacenter', oneLine(node.Datacenter)],
    ['Pool', oneLine(node.NodePool)],
    ['Class', orDash(node.NodeClass)],
    ['CPU', `${Cpu.CpuShares} MHz, ${Cpu.TotalCpuCores} cores`],
    ['Memory', `${Memory.MemoryMB} MB`],
    ['Disk', `${Disk.DiskMB} MB`],
    ...drainRows(node, nowMs),
  ]);
  await screen.title('Drivers');
  await screen.table(
    ['Driver', 'Detected', 'Healthy', 'Reason'],
    Object.entries(node.Drivers)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, { Detected, Healthy, HealthDescription }]) => [
        oneLine(name),
        String(Detected),
        Detected && !Healthy ? screen.colors.red('false') : String(Healthy),
        orDash(HealthDescription),
      ]),
  );
  await printDevices(screen, node.NodeResources.Devices ?? []);
  await printVolumes(screen, node.HostVolumes ?? {});
  if (node.Events.length === 0) return;
  await screen.title('Events');
  await screen.table(
    ['When', 'Subsystem', 'What happened'],
    [...node.Events]
      .reverse()
      .map(({ Timestamp, Subsystem, Message }) => [
        agoText(Timestamp, nowMs),
        oneLine(Subsystem),
        oneLine(Message),
      ]),
  );
}

async function printUsage({ screen }: Context, usage: NodeUsage): Promise<void> {
  const { CPU, Memory, AllocDirStats: disk, Uptime } = usage;
  const busy = CPU.reduce((sum, { Total }) => sum + Total, 0) / Math.max(1, CPU.length);
  const ofAll = (part: number, all: number) => `${bytesText(part)} of ${bytesText(all)}`;
  await screen.title('Use');
  await screen.fields([
    ['CPU', `${percentText(busy)} of ${plural(CPU.length, 'core')}`],
    ...CPU.map(({ CPU: name, Total }) => [oneLine(name), percentText(Total)] as const),
    ['Memory', ofAll(Memory.Used, Memory.Total)],
    ['Disk', `${ofAll(disk.Used, disk.Size)} at ${orDash(disk.Mountpoint)}`],
    ['Up', span(Uptime * 1000)],
  ]);
}

async function printVolumes(screen: Context['screen'], volumes: PresentedNode['HostVolumes']) {
  const rows = Object.entries(volumes).sort(([left], [right]) => (left < right ? -1 : 1));
  if (rows.length === 0) return;
  await screen.title('Host volumes');
  await screen.table(
    ['Volume', 'Path', 'Tasks may'],
    rows.map(([name, { Path, ReadOnly }]) => [
      oneLine(name),
      oneLine(Path),
      ReadOnly ? 'read' : 'read and write',
    ]),
  );
}

async function printDevices(screen: Context['screen'], devices: readonly NodeDevice[]) {
  if (devices.length === 0) return;
  await screen.title('Devices');
  await screen.table(
    ['Device', 'Piece', 'Healthy', 'Reason'],
    devices.flatMap((device) =>
      device.Instances.map(({ ID, Healthy, HealthDescription }) => [
        oneLine(deviceKey(device)),
        oneLine(ID),
        Healthy ? 'true' : screen.colors.red('false'),
        orDash(HealthDescription),
      ]),
    ),
  );
}

function drainRows(node: PresentedNode, nowMs: number): (readonly [string, string])[] {
  const { DrainStrategy: strategy, LastDrain: last } = node;
  if (!last) return [];
  const message = last.Meta?.message;
  const why = message ? `: ${oneLine(message)}` : '';
  const rows = [['Last drain', `${last.Status} ${agoText(last.UpdatedAt, nowMs)}${why}`] as const];
  return strategy ? [...rows, ['Deadline', deadlineText(strategy, nowMs)] as const] : rows;
}

async function printAttributes({ screen }: Context, node: PresentedNode): Promise<void> {
  for (const [title, values] of [
    ['Attributes', node.Attributes],
    ['Meta', node.Meta],
  ] as const) {
    const rows = Object.entries(values).sort(([left], [right]) => (left < right ? -1 : 1));
    if (rows.length === 0) continue;
    await screen.title(title);
    await screen.fields(rows.map(([name, value]) => [oneLine(name), oneLine(value)]));
  }
}
