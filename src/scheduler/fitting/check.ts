/**
 * Whether what a plan wants of one node can be had of the node as it is now. The plan applier asks
 * this for every node that a plan touches. Source: docs/behaviour/scheduling.md#plans-become-state.
 *
 * 1. A node that is not ready and eligible takes no placements; one that is down or disconnected
 *    takes no in-place updates either. Stops and marks are always taken.
 * 2. With placements, all that may run on the node have no more than the node has, and what is placed
 *    shares no port, no core and no device. What is stopped counts until the node says that it ended;
 *    what is evicted does not, for the node starts nothing new before that has ended.
 * 3. Only what is to run can be made to make way.
 * 4. A replacement on the node of what the plan stops may have what that one has, unless that one
 *    still waits for its own predecessor there.
 * 5. It costs what changes, and not what is there.
 */
import type {
  AllocatedPort,
  AllocatedResources,
} from '../../model/allocation/allocated-resources.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { isServerTerminal } from '../../model/allocation/allocation-rules.ts';
import type { Job } from '../../model/job/job.ts';
import { groupNamed } from '../../model/job/job-rules.ts';
import type { Node } from '../../model/node/node.ts';
import { isReadyNode } from '../../model/node/node.ts';
import type { PlannedStop } from '../../model/plan/plan.ts';
import { healthyPieces, piecesOf } from './devices.ts';
import { lower, type Occupancy, raise } from './occupancy.ts';
import { networkAsks, parsePortList, portsOf } from './ports.ts';
import { beyond, capacityOf, coresOf, needOf, shortage } from './resources.ts';

type Holder = Pick<Allocation, 'ID' | 'TaskGroup' | 'AllocatedResources' | 'PreviousAllocation'>;

export interface NodeChange {
  /** `undefined` when it is gone. */
  readonly node: Node | undefined;
  /** Who holds what of the node now. */
  readonly occupancy: Occupancy;
  /** Of the allocations that hold something of the node, the one with the id. */
  readonly holder: (id: string) => Allocation | undefined;
  readonly stops: readonly PlannedStop[];
  /** Ids of those that make way for the placements. */
  readonly preempted?: readonly string[];
  readonly placements: readonly Holder[];
  /** In-place updates. */
  readonly updates: readonly Holder[];
  /** The plan's job: says which of its ports ignore collisions. */
  readonly job?: Job | undefined;
}

/** `undefined` when it fits, else what stands in the way. */
export function checkNode(change: NodeChange): string | undefined {
  const { node, occupancy, holder, placements, updates } = change;
  if (placements.length + updates.length === 0) return undefined;
  if (node === undefined) return 'node does not exist';
  if (node.Status === 'down' || node.Status === 'disconnected') return `node is ${node.Status}`;
  if (placements.length === 0) return undefined;
  if (!isReadyNode(node)) return 'node is not ready and eligible';
  const preempted = new Set(change.preempted);
  const freed: AllocatedResources[] = [];
  for (const id of preempted) {
    const victim = holder(id);
    if (victim === undefined || isServerTerminal(victim)) {
      return `allocation ${id} is not there to make way any more`;
    }
    freed.push(victim.AllocatedResources);
  }
  for (const { ID } of updates) {
    const before = preempted.has(ID) ? undefined : holder(ID);
    if (before !== undefined) freed.push(before.AllocatedResources);
  }
  const held = { occupancy, freed, updated: updates.map((update) => update.AllocatedResources) };
  const predecessorOf = predecessors(change, preempted);
  const placed = placements.map((placement) => {
    return { placement, predecessor: predecessorOf(placement) };
  });
  return (
    exhaustedDimension(node, held, placed) ??
    sharedCore(node, held, placed) ??
    sharedDevice(node, held, placed) ??
    sharedPort(node, held, placed, change.job)
  );
}

/** What is held of a node apart from the placements. */
interface Held {
  readonly occupancy: Occupancy;
  /** What of the load is held no more, or not like this. */
  readonly freed: readonly AllocatedResources[];
  /** What is held instead. */
  readonly updated: readonly AllocatedResources[];
}

interface Placed {
  readonly placement: Holder;
  /** Whose place it takes on the node. */
  readonly predecessor: Holder | undefined;
}

/** Whose place a placement takes on the node: of one that is there, and on its way out. */
function predecessors({ holder, stops, updates }: NodeChange, preempted: ReadonlySet<string>) {
  const stopped = new Set<string>();
  for (const stop of stops) if (stop.desiredStatus !== 'run') stopped.add(stop.allocationId);
  const heldAs = (id: string): Holder | undefined =>
    updates.find((update) => update.ID === id) ?? (preempted.has(id) ? undefined : holder(id));
  const isLeaving = (id: string): boolean => {
    const one = holder(id);
    return stopped.has(id) || (one !== undefined && isServerTerminal(one));
  };
  return ({ PreviousAllocation: id }: Holder): Holder | undefined => {
    const previous = id === '' ? undefined : heldAs(id);
    if (previous === undefined || !isLeaving(id)) return undefined;
    const { PreviousAllocation: before } = previous;
    return before !== '' && heldAs(before) !== undefined ? undefined : previous;
  };
}

function exhaustedDimension(
  node: Node,
  { occupancy, freed, updated }: Held,
  placed: readonly Placed[],
): string | undefined {
  const used = { ...occupancy.used };
  for (const resources of freed) lower(used, needOf(resources));
  for (const resources of updated) raise(used, needOf(resources));
  for (const { placement, predecessor } of placed) {
    const need = needOf(placement.AllocatedResources);
    raise(used, predecessor ? beyond(need, needOf(predecessor.AllocatedResources)) : need);
  }
  return shortage(used, { cpu: 0, memory: 0, disk: 0, cores: 0 }, capacityOf(node));
}

/** Things of which there is only one each. */
interface Kind<T> {
  readonly of: (resources: AllocatedResources) => readonly T[];
  readonly key: (thing: T) => string | number;
  /** How many hold it, by the load. */
  readonly holders: (thing: T) => number;
}

/** What a placement has that is refused it, or that somebody else than its predecessor has. */
function takenTwice<T>(
  { of, key, holders }: Kind<T>,
  { freed, updated }: Held,
  placed: readonly Placed[],
  isRefused: (thing: T, placement: Holder) => boolean | undefined,
): T | undefined {
  // Most ask for none; then nobody has to be asked what he has.
  if (placed.every(({ placement }) => of(placement.AllocatedResources).length === 0)) return;
  const more = new Map<string | number, number>();
  const count = (resources: AllocatedResources, by: 1 | -1): void => {
    for (const thing of of(resources)) more.set(key(thing), (more.get(key(thing)) ?? 0) + by);
  };
  for (const resources of freed) count(resources, -1);
  for (const resources of updated) count(resources, 1);
  for (const { placement, predecessor } of placed) {
    const yielded = predecessor === undefined ? [] : of(predecessor.AllocatedResources).map(key);
    for (const thing of of(placement.AllocatedResources)) {
      const one = key(thing);
      const others = more.get(one) ?? 0;
      const mine = yielded.filter((other) => other === one).length;
      const isTaken = holders(thing) + others > mine;
      if (isRefused(thing, placement) ?? isTaken) return thing;
      more.set(one, others + 1);
    }
  }
  return undefined;
}

function sharedCore(node: Node, held: Held, placed: readonly Placed[]): string | undefined {
  const offered = new Set(node.NodeResources.Cpu.ReservableCpuCores);
  const holders = (core: number) => held.occupancy.cores.get(core) ?? 0;
  const kind: Kind<number> = { of: coresOf, key: (core) => core, holders };
  const core = takenTwice(kind, held, placed, (one) => !offered.has(one) || undefined);
  return core === undefined ? undefined : 'cores';
}

function sharedDevice(node: Node, held: Held, placed: readonly Placed[]): string | undefined {
  const offered = healthyPieces(node);
  const holders = (piece: string) => held.occupancy.devices.get(piece) ?? 0;
  const kind: Kind<string> = { of: piecesOf, key: (piece) => piece, holders };
  const piece = takenTwice(kind, held, placed, (one) => !offered.has(one) || undefined);
  return piece === undefined ? undefined : 'devices';
}

function sharedPort(
  node: Node,
  held: Held,
  placed: readonly Placed[],
  job: Job | undefined,
): string | undefined {
  const reserved = parsePortList(node.ReservedResources.Networks.ReservedHostPorts);
  const kind: Kind<AllocatedPort> = {
    of: portsOf,
    key: ({ HostIP, Value }) => `${HostIP}:${Value}`,
    holders: ({ HostIP, Value }) => held.occupancy.ports.holders(HostIP, Value),
  };
  const ignored = new Map<string, ReadonlySet<string>>();
  const port = takenTwice(kind, held, placed, ({ Label, Value }, { TaskGroup }) => {
    const labels = ignored.get(TaskGroup) ?? collisionsIgnored(job, TaskGroup);
    ignored.set(TaskGroup, labels);
    if (labels.has(Label)) return false;
    return reserved.has(Value) || undefined;
  });
  return port && `network: port collision ${port.Label}=${port.Value}`;
}

/** Labels are unique over a group and its tasks. */
function collisionsIgnored(job: Job | undefined, groupName: string): ReadonlySet<string> {
  const group = job === undefined ? undefined : groupNamed(job, groupName);
  if (group === undefined) return new Set();
  const ports = networkAsks(group).flatMap(({ network }) => network.ReservedPorts ?? []);
  return new Set(ports.filter((port) => port.IgnoreCollision).map((port) => port.Label));
}
