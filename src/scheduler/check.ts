/**
 * Whether what a plan wants of one node can be had of the node as it is now. The plan applier asks
 * this for every node that a plan touches. Source: facts/scheduler.md §6.1, DESIGN §6.
 *
 * 1. A node that is not ready and eligible takes no placements; one that is down or disconnected
 *    takes no in-place updates either. Stops and marks are always taken.
 * 2. With placements, the holders that remain have no more than the node has, and share no port
 *    and no core.
 */
import type { AllocatedPort, AllocatedResources } from '../model/allocation/allocated-resources.ts';
import type { Allocation } from '../model/allocation/allocation.ts';
import { occupiesNode } from '../model/allocation/allocation-rules.ts';
import type { Job } from '../model/job/job.ts';
import { groupNamed } from '../model/job/job-rules.ts';
import type { Node } from '../model/node/node.ts';
import { isReadyNode } from '../model/node/node.ts';
import type { PlannedStop } from '../model/plan/plan.ts';
import { networkAsks, parsePortList, portsOf } from './ports.ts';
import { capacityOf, needOf, shortage } from './resources.ts';

type Holder = Pick<Allocation, 'ID' | 'TaskGroup' | 'AllocatedResources'>;

export interface NodeChange {
  /** `undefined` when it is gone. */
  readonly node: Node | undefined;
  /** All there are on the node now, the finished ones included. */
  readonly existing: Iterable<Allocation>;
  readonly stops: readonly PlannedStop[];
  readonly placements: readonly Holder[];
  /** In-place updates. */
  readonly updates: readonly Holder[];
  /** The plan's job: says which of its ports ignore collisions. */
  readonly job?: Job | undefined;
}

/** `undefined` when it fits, else what stands in the way. */
export function checkNode(change: NodeChange): string | undefined {
  const { node, placements, updates } = change;
  if (placements.length + updates.length === 0) return undefined;
  if (node === undefined) return 'node does not exist';
  if (node.Status === 'down' || node.Status === 'disconnected') return `node is ${node.Status}`;
  if (placements.length === 0) return undefined;
  if (!isReadyNode(node)) return 'node is not ready and eligible';
  const remaining = remainingHolders(change);
  return (
    exhaustedDimension(node, [...remaining, ...placements]) ??
    sharedCore([...remaining, ...placements]) ??
    sharedPort(node, remaining, placements, change.job)
  );
}

function remainingHolders(change: NodeChange): readonly Holder[] {
  const replaced = new Set([
    ...change.stops.filter((stop) => stop.desiredStatus !== 'run').map((stop) => stop.allocationId),
    ...change.updates.map((update) => update.ID),
  ]);
  const others = [...change.existing].filter(
    (allocation) => occupiesNode(allocation) && !replaced.has(allocation.ID),
  );
  return [...others, ...change.updates];
}

function exhaustedDimension(node: Node, holders: readonly Holder[]): string | undefined {
  const used = { cpu: 0, memory: 0, disk: 0, cores: 0 };
  for (const { AllocatedResources } of holders) {
    const need = needOf(AllocatedResources);
    used.cpu += need.cpu;
    used.memory += need.memory;
    used.disk += need.disk;
    used.cores += need.cores;
  }
  const capacity = capacityOf(node);
  const nothing = { cpu: 0, memory: 0, disk: 0, cores: 0 };
  return shortage(used, nothing, capacity) ?? (used.cores > capacity.cores ? 'cores' : undefined);
}

function sharedCore(holders: readonly Holder[]): string | undefined {
  const taken = new Set<number>();
  for (const core of holders.flatMap((holder) => coresOf(holder.AllocatedResources))) {
    if (taken.has(core)) return 'cores';
    taken.add(core);
  }
  return undefined;
}

const coresOf = ({ Tasks }: AllocatedResources): readonly number[] =>
  Object.values(Tasks).flatMap((task) => task.Cpu.ReservedCores ?? []);

function sharedPort(
  node: Node,
  remaining: readonly Holder[],
  placements: readonly Holder[],
  job: Job | undefined,
): string | undefined {
  const reserved = parsePortList(node.ReservedResources.Networks.ReservedHostPorts);
  const keyOf = (port: AllocatedPort): string => `${port.HostIP}:${port.Value}`;
  const taken = new Set(remaining.flatMap((one) => portsOf(one.AllocatedResources).map(keyOf)));
  for (const { TaskGroup, AllocatedResources } of placements) {
    const careless = collisionsIgnored(job, TaskGroup);
    for (const port of portsOf(AllocatedResources)) {
      const isBusy = reserved.has(port.Value) || taken.has(keyOf(port));
      if (isBusy && !careless.has(port.Label)) {
        return `network: port collision ${port.Label}=${port.Value}`;
      }
      taken.add(keyOf(port));
    }
  }
  return undefined;
}

/** Labels are unique over a group and its tasks. */
function collisionsIgnored(job: Job | undefined, groupName: string): ReadonlySet<string> {
  const group = job === undefined ? undefined : groupNamed(job, groupName);
  if (group === undefined) return new Set();
  const ports = networkAsks(group).flatMap(({ network }) => network.ReservedPorts ?? []);
  return new Set(ports.filter((port) => port.IgnoreCollision).map((port) => port.Label));
}
