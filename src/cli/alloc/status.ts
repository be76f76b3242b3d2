import type { AllocatedDevice } from '../../model/allocation/allocated-resources.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { AllocationUsage } from '../../model/allocation/resource-usage.ts';
import type { TaskState } from '../../model/allocation/task-state.ts';
import { deviceKey } from '../../model/node/device.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, filterOption, verbose } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { resolveAllocation } from '../nouns.ts';
import { printAllocationTable } from '../render/allocation-table.ts';
import { bytesText, percentText } from '../render/bytes.ts';
import { ago, agoText, oneLine, orDash } from '../render/text.ts';
import { printInstances } from '../service/instances.ts';

export const allocStatus: ClientCommand = {
  words: ['alloc', 'status'],
  summary: 'List the allocations, or show an allocation.',
  definition: {
    isPaged: true,
    arguments: [
      {
        name: 'ALLOC',
        kind: 'allocation',
        isRequired: false,
        description: 'Id of the allocation, or 8 or more characters of it. Default: all.',
      },
    ],
    options: [
      { ...filterOption, description: 'Only allocations that match the expression.' },
      { name: 'stats', description: 'Show the current usage of its tasks.' },
      verbose,
    ],
  },
  async run(context, [given], options) {
    const filter = options.text('filter');
    if (given === undefined) return listAllocations(context, filter);
    if (filter !== undefined) throw new CliError('--filter is for the list of allocations.');
    const { client } = context;
    const id = await resolveAllocation(context, given);
    const { value } = await client.allocations.read(id);
    const usage = options.flag('stats') ? (await client.allocations.usage(id)).value : undefined;
    if (context.isJson) await context.json(usage ? { ...value, Stats: usage } : value);
    else await showAllocation(context, value);
    if (usage !== undefined && !context.isJson) await printUsage(context, usage);
    return exitCodes.ok;
  },
};

async function listAllocations(context: Context, filter: string | undefined): Promise<number> {
  const { value: allocations } = await context.client.allocations.list({ filter });
  const empty =
    filter === undefined
      ? 'There are no allocations. Run a job with "roster job run FILE".'
      : 'No allocation matches the filter.';
  return context.show(allocations, () =>
    allocations.length > 0
      ? printAllocationTable(context, allocations)
      : context.screen.line(empty),
  );
}

async function showAllocation(context: Context, allocation: Allocation): Promise<void> {
  const { screen, id, nowMs } = context;
  const because = (text: string) => (text === '' ? '' : ` (${oneLine(text)})`);
  const optional = (name: string, other: string) => (other ? [[name, id(other)] as const] : []);
  await screen.fields([
    ['ID', allocation.ID],
    ['Name', oneLine(allocation.Name)],
    ['Job', `${oneLine(allocation.JobID)} (version ${allocation.JobVersion})`],
    ['Namespace', oneLine(allocation.Namespace)],
    ['Node', `${orDash(allocation.NodeName)} (${id(allocation.NodeID)})`],
    ['Evaluation', id(allocation.EvalID)],
    ['Desired', allocation.DesiredStatus + because(allocation.DesiredDescription)],
    ['Status', screen.status(allocation.ClientStatus) + because(allocation.ClientDescription)],
    ['Created', ago(allocation.CreateTime, nowMs)],
    ['Changed', ago(allocation.ModifyTime, nowMs)],
    ...optional('Replaces', allocation.PreviousAllocation),
    ...optional('Replaced by', allocation.NextAllocation),
    ...optional('Tries again in', allocation.FollowupEvalID),
    ...optional('Made way for', allocation.PreemptedByAllocation),
    ...((allocation.PreemptedAllocations ?? []).length === 0
      ? []
      : [['Evicted', allocation.PreemptedAllocations!.map(id).join(', ')] as const]),
  ]);
  await printPorts(context, allocation);
  await printServices(context, allocation);
  for (const task of taskNames(allocation)) await printTask(context, allocation, task);
}

async function printUsage({ screen }: Context, usage: AllocationUsage): Promise<void> {
  await screen.title('Use');
  const tasks = Object.entries(usage.Tasks).sort(([left], [right]) => (left < right ? -1 : 1));
  if (tasks.length === 0) return screen.line('No task runs, or none whose driver can tell.');
  await screen.table(
    ['Task', 'CPU', 'MHz', 'Memory', 'Processes'],
    tasks.map(
      ([
        name,
        {
          ResourceUsage: { CpuStats, MemoryStats },
          Pids,
        },
      ]) => [
        oneLine(name),
        percentText(CpuStats.Percent),
        CpuStats.TotalTicks.toFixed(0),
        bytesText(MemoryStats.Usage),
        String(Object.keys(Pids).length),
      ],
    ),
  );
}

/** Every task of the allocation, also without a state. */
export const taskNames = (
  allocation: Pick<Allocation, 'TaskStates' | 'AllocatedResources'>,
): string[] =>
  [
    ...new Set([
      ...Object.keys(allocation.AllocatedResources?.Tasks ?? {}),
      ...Object.keys(allocation.TaskStates ?? {}),
    ]),
  ].sort();

async function printPorts({ screen }: Context, allocation: Allocation): Promise<void> {
  const ports = allocation.AllocatedResources?.Shared.Ports ?? [];
  if (ports.length === 0) return;
  await screen.title('Ports');
  await screen.table(
    ['Label', 'Address', 'To'],
    ports.map(({ Label, HostIP, Value, To }) => [
      oneLine(Label),
      `${HostIP.includes(':') ? `[${HostIP}]` : HostIP}:${Value}`,
      To > 0 ? String(To) : '-',
    ]),
  );
}

/** The services with the worst status of their checks; `alloc checks` shows each check. */
async function printServices(context: Context, { ID }: Allocation): Promise<void> {
  const { value } = await context.client.allocations.services(ID);
  if (value.length === 0) return;
  await context.screen.title('Services');
  await printInstances(context, value, { isNamed: true });
}

async function printTask(context: Context, allocation: Allocation, name: string): Promise<void> {
  const { screen, nowMs } = context;
  const state = allocation.TaskStates?.[name];
  const resources = allocation.AllocatedResources?.Tasks?.[name];
  const { status } = screen;
  await screen.title(`Task "${oneLine(name)}"`);
  await screen.fields([
    ['State', state === undefined ? status('pending') : stateText(state, status)],
    ...(resources === undefined
      ? []
      : ([
          ['CPU', `${resources.Cpu.CpuShares} MHz`],
          ['Memory', memoryText(resources.Memory)],
          ...(resources.Devices ?? []).map((one) => ['Device', deviceText(one)] as const),
        ] as const)),
    ['Started', agoText(state?.StartedAt, nowMs)],
    ['Finished', agoText(state?.FinishedAt, nowMs)],
    ['Restarts', String(state?.Restarts ?? 0)],
  ]);
  const events = state?.Events ?? [];
  if (events.length === 0) return;
  await screen.line();
  await screen.table(
    ['When', 'Event', 'What happened'],
    [...events]
      .reverse()
      .map(({ Time, Type, DisplayMessage, Message }) => [
        ago(Time, nowMs),
        oneLine(Type),
        oneLine(DisplayMessage || Message),
      ]),
  );
}

const stateText = ({ State, Failed }: TaskState, status: (word: string) => string): string =>
  Failed ? `${status(State)} (${status('failed')})` : status(State);

/** `acme/gpu/a100: GPU-1, GPU-2` */
const deviceText = (device: AllocatedDevice): string =>
  oneLine(`${deviceKey(device)}: ${device.DeviceIDs.join(', ')}`);

const memoryText = ({ MemoryMB, MemoryMaxMB }: { MemoryMB: number; MemoryMaxMB: number }) =>
  MemoryMaxMB > MemoryMB ? `${MemoryMB} MB (at most ${MemoryMaxMB} MB)` : `${MemoryMB} MB`;
