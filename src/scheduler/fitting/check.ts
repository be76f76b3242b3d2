/**
 * Checks whether a plan's changes to a node fit the node's current state. The plan applier calls it
 * for every node of a plan.
 * Source: docs/behaviour/scheduling.md#plans-become-state.
 *
 * 1. A node that is not ready and eligible takes no placements; a node that is down or disconnected
 *    takes no in-place updates either. Stops and notes are always accepted.
 * 2. After a placement, the allocations that may run on the node need no more than it has, and
 *    placements share no port, core or device. A stopped allocation counts until the node reports its
 *    end; an evicted one does not, because the node starts nothing new before it has ended.
 * 3. Only an allocation that is meant to run can be evicted.
 * 4. A replacement on its predecessor's node may use the predecessor's resources, unless the
 *    predecessor still waits there for its own.
 * 5. The cost depends on the number of changes, not of allocations on the node.
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
import { beyond, capacityOf, coresOf, holdsPieces, needOf, shortage } from './resources.ts';

const nobody: ReadonlySet<string> = new Set();

type Holder = Pick<Allocation, 'ID' | 'TaskGroup' | 'AllocatedResources' | 'PreviousAllocation'>;

export interface NodeChange {
  /** `undefined`: the node does not exist. */
  readonly node: Node | undefined;
  /** The node's occupancy before the plan. */
  readonly occupancy: Occupancy;
  /** The allocation with the id, if it holds resources of the node. */
  readonly holder: (id: string) => Allocation | undefined;
  readonly stops: readonly PlannedStop[];
  /** Ids of the allocations evicted for the placements. */
  readonly preempted?: readonly string[];
  readonly placements: readonly Holder[];
  /** In-place updates. */
  readonly updates: readonly Holder[];
  /** The plan's job: says which of its ports ignore collisions. */
  readonly job?: Job | undefined;
}

/** The reason that the change does not fit; `undefined` if it fits. */
export function checkNode(change: NodeChange): string | undefined {
  const { node, occupancy, holder, placements, updates } = change;
  if (placements.length + updates.length === 0) return undefined;
  if (node === undefined) return 'node does not exist';
  if (node.Status === 'down' || node.Status === 'disconnected') return `node is ${node.Status}`;
  if (placements.length === 0) return undefined;
  if (!isReadyNode(node)) return 'node is not ready and eligible';
  const preempted = change.preempted?.length ? new Set(change.preempted) : nobody;
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
  const placed = placedOf(change, preempted);
  const exhausted = exhaustedDimension(node, held, placed);
  // Most placements need amounts alone.
  if (exhausted !== undefined || !placements.some((one) => holdsPieces(one.AllocatedResources)))
    return exhausted;
  return (
    sharedCore(node, held, placed) ??
    sharedDevice(node, held, placed) ??
    sharedPort(node, held, placed, change.job)
  );
}

/** The resources held of a node, placements aside. */
interface Held {
  readonly occupancy: Occupancy;
  /** Resources in the occupancy that are freed or replaced. */
  readonly freed: readonly AllocatedResources[];
  /** The resources after in-place updates. */
  readonly updated: readonly AllocatedResources[];
}

interface Placed {
  readonly placement: Holder;
  /** The allocation on the node whose resources the placement takes over. */
  readonly predecessor: Holder | undefined;
}

function placedOf(change: NodeChange, preempted: ReadonlySet<string>): Placed[] {
  const { placements } = change;
  const predecessorOf = placements.some(({ PreviousAllocation }) => PreviousAllocation !== '')
    ? predecessors(change, preempted)
    : () => undefined;
  return placements.map((placement) => ({ placement, predecessor: predecessorOf(placement) }));
}

/** Finds a placement's predecessor on the node: it holds resources there and is being stopped. */
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

/** A kind of resource whose pieces exist once each: cores, device pieces, ports. */
interface Kind<T> {
  readonly of: (resources: AllocatedResources) => readonly T[];
  readonly key: (thing: T) => string | number;
  /** How many allocations hold the piece, by the occupancy. */
  readonly holders: (thing: T) => number;
}

/** The first piece of a placement that is refused, or that an allocation other than its predecessor holds. */
function takenTwice<T>(
  { of, key, holders }: Kind<T>,
  { freed, updated }: Held,
  placed: readonly Placed[],
  isRefused: (thing: T, placement: Holder) => boolean | undefined,
): T | undefined {
  // Most placements have none of the kind; then the holders need not be counted.
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

/** Labels of the ports that ignore collisions; labels are unique within a group. */
function collisionsIgnored(job: Job | undefined, groupName: string): ReadonlySet<string> {
  const group = job === undefined ? undefined : groupNamed(job, groupName);
  if (group === undefined) return new Set();
  const ports = networkAsks(group).flatMap(({ network }) => network.ReservedPorts ?? []);
  return new Set(ports.filter((port) => port.IgnoreCollision).map((port) => port.Label));
}
