/**
 * The metrics of a node. Names come from the rows of the state, or of the node's own agent: the counters are figures
 * alone.
 */
import { mebibyte } from '../../base/units.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { checkStatuses } from '../../model/check-result/check-result.ts';
import { limits } from '../../model/limits.ts';
import type { Node } from '../../model/node/node.ts';
import type { CheckCounters, NodeCounters, TaskCounters } from '../../model/node/node-counters.ts';
import { jobLabel } from '../../server/tallies/counts.ts';
import { allocations, nodes, serviceRegistrations } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import type { MetricName } from './definitions.ts';
import { type Family, family, type Labels, type Sample } from './family.ts';
import { labelsOfNode } from './labels.ts';

/** The rows of a node. */
export interface RowsOfNode {
  readonly node: Pick<Node, 'NodePool' | 'Name' | 'ID'>;
  /** `undefined`: there is no such allocation on this node. */
  allocation(id: string): Allocation | undefined;
  /** Whether the allocation has registered the service. */
  hasService(allocationId: string, service: string): boolean;
}

/** `undefined`: the state has no such node. */
export function rowsOfNode(snapshot: Snapshot, nodeId: string): RowsOfNode | undefined {
  const node = snapshot.table(nodes).get(nodeId);
  if (node === undefined) return undefined;
  return {
    node,
    allocation(id) {
      const [found] = snapshot
        .table(allocations)
        .by('id')
        .scan({ prefix: [id] });
      return found?.NodeID === nodeId ? found : undefined;
    },
    hasService(id, service) {
      const prefix = [id];
      const registered = snapshot.table(serviceRegistrations).by('allocation').scan({ prefix });
      return [...registered].some(({ ServiceName }) => ServiceName === service);
    },
  };
}

export function countedFamilies(
  rows: RowsOfNode,
  { Machine, Tasks, Checks }: NodeCounters,
): readonly Family[] {
  const labels = labelsOfNode(rows.node);
  const own = (name: MetricName, value: number) => family(name, [{ labels, value }]);
  return [
    own('roster_node_cpu_seconds_total', Machine.CpuMs / 1000),
    own('roster_node_cpu_cores', Machine.Cores),
    own('roster_node_memory_bytes', Machine.MemoryBytes),
    own('roster_node_memory_used_bytes', Machine.MemoryUsedBytes),
    own('roster_node_disk_bytes', Machine.DiskBytes),
    own('roster_node_disk_used_bytes', Machine.DiskUsedBytes),
    own('roster_node_uptime_seconds', Machine.UptimeSeconds),
    ...taskFamilies(Tasks.flatMap((task) => knownTask(rows, task) ?? [])),
    checkFamily(Checks.flatMap((told) => knownChecks(rows, told) ?? [])),
  ];
}

interface KnownTask extends TaskCounters {
  readonly allocation: Allocation;
}

/** A task of an allocation on this node; `undefined`: there is none. */
function knownTask(rows: RowsOfNode, told: TaskCounters): KnownTask | undefined {
  const allocation = rows.allocation(told.AllocID);
  const isThere = allocation && Object.hasOwn(allocation.AllocatedResources.Tasks, told.Task);
  return isThere ? { ...told, allocation } : undefined;
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
function knownChecks(rows: RowsOfNode, told: CheckCounters): KnownChecks | undefined {
  const allocation = rows.allocation(told.AllocID);
  if (allocation === undefined || !rows.hasService(told.AllocID, told.Service)) return undefined;
  return { ...told, allocation };
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
