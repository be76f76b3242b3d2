import type { PresentedNode } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, verbose } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { resolveNode } from '../nouns.ts';
import { ago, byName, oneLine, orDash } from '../render/text.ts';

export const nodeStatus: ClientCommand = {
  definition: {
    arguments: [
      {
        name: 'NODE',
        kind: 'node',
        isRequired: false,
        description: 'Id of the node, 8 or more characters of it, or its name; all without it.',
      },
    ],
    options: [verbose],
  },
  async run(context, [given]) {
    if (given === undefined) return listNodes(context);
    const id = await resolveNode(context, given);
    const { value: node } = await context.client.nodes.read(id);
    const { value: allocations } = await context.client.nodes.allocations(id);
    if (context.isJson) {
      await context.json({ Node: node, Allocations: allocations });
      return exitCodes.ok;
    }
    await showNode(context, node);
    const { screen } = context;
    await screen.title('Allocations');
    if (allocations.length === 0) {
      await screen.line('None.');
    } else {
      await screen.table(
        ['ID', 'Name', 'Desired', 'Status', 'Changed'],
        [...allocations]
          .sort(byName)
          .map(({ ID, Name, DesiredStatus, ClientStatus, ModifyTime }) => [
            context.id(ID),
            oneLine(Name),
            DesiredStatus,
            screen.status(ClientStatus),
            ago(ModifyTime, context.nowMs),
          ]),
      );
    }
    if (context.isVerbose) await printAttributes(context, node);
    return exitCodes.ok;
  },
};

async function listNodes({ client, screen, isJson, json, id }: Context): Promise<number> {
  const { value: nodes } = await client.nodes.list();
  if (isJson) {
    await json(nodes);
  } else if (nodes.length === 0) {
    await screen.line('There are no nodes. "roster agent --dev" starts a server with one.');
  } else {
    await screen.table(
      ['ID', 'Name', 'Datacenter', 'Pool', 'Class', 'Drain', 'Eligibility', 'Status'],
      nodes.map((node) => [
        id(node.ID),
        oneLine(node.Name),
        oneLine(node.Datacenter),
        oneLine(node.NodePool),
        orDash(node.NodeClass),
        String(node.Drain),
        node.SchedulingEligibility,
        screen.status(node.Status),
      ]),
    );
  }
  return exitCodes.ok;
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
  if (node.Events.length === 0) return;
  await screen.title('Events');
  await screen.table(
    ['When', 'Subsystem', 'What happened'],
    [...node.Events]
      .reverse()
      .map(({ Timestamp, Subsystem, Message }) => [
        ago(Timestamp, nowMs),
        oneLine(Subsystem),
        oneLine(Message),
      ]),
  );
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
