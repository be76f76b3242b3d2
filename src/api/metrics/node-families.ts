/** The metrics of a node. Names come from the rows of the state: a node tells figures alone. */
import { mebibyte } from '../../base/units.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { checkStatuses } from '../../model/check-result/check-result.ts';
import { limits } from '../../model/limits.ts';
import type { CheckCounters, NodeCounters, TaskCounters } from '../../model/node/node-counters.ts';
import { jobLabel } from '../../server/tallies/counts.ts';
import { allocations, nodes, serviceRegistrations } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import type { MetricName } from './definitions.ts';
import { type Family, family, type Labels, type Sample } from './family.ts';
import { labelsOfNode } from './labels.ts';

export function countedFamilies(
  snapshot: Snapshot,
  nodeId: string,
  { Machine, Tasks, Checks }: NodeCounters,
): readonly Family[] {
  const node = snapshot.table(nodes).get(nodeId);
  if (node === undefined) return [];
  const labels = labelsOfNode(node);
  const own = (name: MetricName, value: number) => family(name, [{ labels, value }]);
  return [
    own('roster_node_cpu_seconds_total', Machine.CpuMs / 1000),
    own('roster_node_cpu_cores', Machine.Cores),
    own('roster_node_memory_bytes', Machine.MemoryBytes),
    own('roster_node_memory_used_bytes', Machine.MemoryUsedBytes),
    own('roster_node_disk_bytes', Machine.DiskBytes),
    own('roster_node_disk_used_bytes', Machine.DiskUsedBytes),
    own('roster_node_uptime_seconds', Machine.UptimeSeconds),
    ...taskFamilies(Tasks.flatMap((task) => knownTask(snapshot, nodeId, task) ?? [])),
    checkFamily(Checks.flatMap((told) => knownChecks(snapshot, nodeId, told) ?? [])),
  ];
}

interface KnownTask extends TaskCounters {
  readonly allocation: Allocation;
}

/** A task of an allocation on this node; `undefined`: there is none. */
function knownTask(snapshot: Snapshot, nodeId: string, told: TaskCounters): KnownTask | undefined {
  const [allocation] = snapshot
    .table(allocations)
    .by('id')
    .scan({ prefix: [told.AllocID] });
  const isThere = allocation?.NodeID === nodeId;
  if (!isThere || !Object.hasOwn(allocation.AllocatedResources.Tasks, told.Task)) return undefined;
  return { ...told, allocation };
}

function taskFamilies(tasks: readonly KnownTask[]): readonly Family[] {
  const many = new Set(tasks.map(({ AllocID }) => AllocID)).size;
  const isSummed = many > limits.metrics.allocationsPerNodeMax;
  const sum = (name: MetricName, figure: (task: KnownTask) => number, of = tasks): Family =>
    family(
      name,
      summed(of.map((one) => ({ labels: labelsOfTask(one, isSummed), value: figure(one) }))),
    );
  return [
    sum('roster_task_cpu_seconds_total', ({ CpuMs }) => CpuMs / 1000),
    sum('roster_task_memory_bytes', ({ MemoryBytes }) => MemoryBytes),
    sum(
      'roster_task_memory_limit_bytes',
      (task) => Math.max(memoryOf(task).MemoryMB, memoryOf(task).MemoryMaxMB) * mebibyte,
      tasks.filter((task) => memoryOf(task).MemoryMaxMB !== unlimited),
    ),
  ];
}

interface KnownChecks extends CheckCounters {
  readonly allocation: Allocation;
}

/** The checks of a service that an allocation on this node has registered; `undefined`: there is none. */
function knownChecks(
  snapshot: Snapshot,
  nodeId: string,
  told: CheckCounters,
): KnownChecks | undefined {
  const prefix = [told.AllocID];
  const [allocation] = snapshot.table(allocations).by('id').scan({ prefix });
  if (allocation?.NodeID !== nodeId) return undefined;
  const registered = snapshot.table(serviceRegistrations).by('allocation').scan({ prefix });
  const isRegistered = [...registered].some(({ ServiceName }) => ServiceName === told.Service);
  return isRegistered ? { ...told, allocation } : undefined;
}

function checkFamily(all: readonly KnownChecks[]): Family {
  const many = new Set(all.map(({ AllocID }) => AllocID)).size;
  const isSummed = many > limits.metrics.allocationsPerNodeMax;
  const counted = all.flatMap((told) =>
    checkStatuses.map((status) => ({
      labels: { ...labelsOfChecks(told, isSummed), status },
      value: told[status],
    })),
  );
  return family('roster_service_checks', summed(counted));
}

const labelsOfChecks = (
  { allocation, Service, AllocID }: KnownChecks,
  isSummed: boolean,
): Labels => ({
  namespace: allocation.Namespace,
  job_id: jobLabel(allocation.JobID),
  group: allocation.TaskGroup,
  service: Service,
  ...(!isSummed && { alloc_id: AllocID }),
});

/** A sample for each set of labels. */
function summed(samples: readonly Sample[]): readonly Sample[] {
  const sums = new Map<string, Sample>();
  for (const { labels, value } of samples) {
    const key = JSON.stringify(labels);
    sums.set(key, { labels, value: (sums.get(key)?.value ?? 0) + value });
  }
  return [...sums.values()];
}

/** Of `MemoryMaxMB`. */
const unlimited = -1;

const memoryOf = ({ allocation, Task }: KnownTask) =>
  allocation.AllocatedResources.Tasks[Task]!.Memory;

const labelsOfTask = ({ allocation, Task, AllocID }: KnownTask, isSummed: boolean): Labels => ({
  namespace: allocation.Namespace,
  job_id: jobLabel(allocation.JobID),
  group: allocation.TaskGroup,
  task: Task,
  ...(!isSummed && { alloc_id: AllocID }),
});
