/**
 * Whether what a plan wants of one node can be had of the node as it is now. The plan applier asks
 * this for every node that a plan touches. Source: facts/scheduler.md §6.1, DESIGN §6.
 *
 * 1. A node that is not ready and eligible takes no placements; one that is down or disconnected
 *    takes no in-place updates either. Stops and marks are always taken.
 * 2. With placements, all that may run on the node have no more than the node has, and what is placed
 *    shares no port, no core and no device. What is stopped counts until the node says that it ended;
 *    what is evicted does not, for the node starts nothing new before that has ended.
 * 3. Only what is to run can be made to make way.
 * 4. A replacement on the node of what the plan stops may have what that one has, unless that one
 *    still waits for its own predecessor there.
 */
import type { AllocatedPort } from '../model/allocation/allocated-resources.ts';
import type { Allocation } from '../model/allocation/allocation.ts';
import { holdsResources, isServerTerminal } from '../model/allocation/allocation-rules.ts';
import type { Job } from '../model/job/job.ts';
import { groupNamed } from '../model/job/job-rules.ts';
import type { Node } from '../model/node/node.ts';
import { isReadyNode } from '../model/node/node.ts';
import type { PlannedStop } from '../model/plan/plan.ts';
import { healthyPieces, piecesOf } from './devices.ts';
import { networkAsks, parsePortList, portsOf } from './ports.ts';
import { beyond, capacityOf, coresOf, type Need, needOf, shortage } from './resources.ts';

type Holder = Pick<Allocation, 'ID' | 'TaskGroup' | 'AllocatedResources' | 'PreviousAllocation'>;
type Holders = ReadonlyMap<string, Holder>;

export interface NodeChange {
  /** `undefined` when it is gone. */
  readonly node: Node | undefined;
  /** Those on the node now; finished ones do not matter. */
  readonly existing: Iterable<Allocation>;
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
  const { node, placements, updates } = change;
  if (placements.length + updates.length === 0) return undefined;
  if (node === undefined) return 'node does not exist';
  if (node.Status === 'down' || node.Status === 'disconnected') return `node is ${node.Status}`;
  if (placements.length === 0) return undefined;
  if (!isReadyNode(node)) return 'node is not ready and eligible';
  if (isPlain(change)) return exhaustedPlainly(node, change);
  const { holders, leaving, evicted } = occupancyOf(change);
  const missing = change.preempted?.find((id) => !evicted.has(id));
  if (missing !== undefined) return `allocation ${missing} is not there to make way any more`;
  const placed = placements.map((placement) => ({
    placement,
    predecessor: predecessorOf(placement, holders, leaving),
  }));
  return (
    exhaustedDimension(node, holders.values(), placed) ??
    sharedCore(node, holders, placed) ??
    sharedDevice(node, holders, placed) ??
    sharedPort(node, holders, placed, change.job)
  );
}

/** Whether sums tell all: nothing is replaced, and nothing is asked for of which there is one only. */
const isPlain = ({ preempted = [], updates, placements }: NodeChange): boolean =>
  preempted.length + updates.length === 0 &&
  placements.every(
    ({ PreviousAllocation, AllocatedResources: held }) =>
      PreviousAllocation === '' &&
      coresOf(held).length + piecesOf(held).length + portsOf(held).length === 0,
  );

/** Most changes are plain, and then nobody on the node has to be known by name. */
function exhaustedPlainly(node: Node, { existing, placements }: NodeChange): string | undefined {
  const holders: Holder[] = [];
  for (const allocation of existing) if (holdsResources(allocation)) holders.push(allocation);
  const placed = placements.map((placement) => ({ placement, predecessor: undefined }));
  return exhaustedDimension(node, holders, placed);
}

/**
 * Who is on the node apart from the placements and what makes way for them, and the ids of those that
 * are stopped or make way.
 */
function occupancyOf({ existing, stops, preempted, updates }: NodeChange) {
  const holders = new Map<string, Holder>();
  const leaving = new Set<string>();
  const evicted = new Set<string>();
  const toEvict = new Set(preempted);
  for (const allocation of existing) {
    if (!holdsResources(allocation)) continue;
    if (toEvict.has(allocation.ID) && !isServerTerminal(allocation)) {
      evicted.add(allocation.ID);
      continue;
    }
    holders.set(allocation.ID, allocation);
    if (isServerTerminal(allocation)) leaving.add(allocation.ID);
  }
  for (const stop of stops) if (stop.desiredStatus !== 'run') leaving.add(stop.allocationId);
  for (const update of updates) holders.set(update.ID, update);
  return { holders, leaving, evicted };
}

interface Placed {
  readonly placement: Holder;
  /** Whose place it takes on the node. */
  readonly predecessor: Holder | undefined;
}

function predecessorOf(
  { PreviousAllocation }: Holder,
  holders: Holders,
  leaving: ReadonlySet<string>,
): Holder | undefined {
  const previous = holders.get(PreviousAllocation);
  if (previous === undefined || !leaving.has(previous.ID)) return undefined;
  return holders.has(previous.PreviousAllocation) ? undefined : previous;
}

function exhaustedDimension(
  node: Node,
  holders: Iterable<Holder>,
  placed: readonly Placed[],
): string | undefined {
  const used = { cpu: 0, memory: 0, disk: 0, cores: 0 };
  const count = (need: Need): void => {
    used.cpu += need.cpu;
    used.memory += need.memory;
    used.disk += need.disk;
  };
  for (const { AllocatedResources } of holders) count(needOf(AllocatedResources));
  for (const { placement, predecessor } of placed) {
    const need = needOf(placement.AllocatedResources);
    count(predecessor ? beyond(need, needOf(predecessor.AllocatedResources)) : need);
  }
  return shortage(used, { cpu: 0, memory: 0, disk: 0, cores: 0 }, capacityOf(node));
}

/** Who has each thing of which there is only one. */
class Owners<T> {
  readonly #owners = new Map<T, Set<string>>();

  add(thing: T, owner: string): void {
    const owners = this.#owners.get(thing);
    if (owners === undefined) this.#owners.set(thing, new Set([owner]));
    else owners.add(owner);
  }

  /** Whether somebody else than the predecessor has it. */
  isTaken(thing: T, predecessor: Holder | undefined): boolean {
    const owners = this.#owners.get(thing);
    if (owners === undefined) return false;
    return owners.size > 1 || predecessor === undefined || !owners.has(predecessor.ID);
  }
}

function sharedCore(node: Node, holders: Holders, placed: readonly Placed[]): string | undefined {
  // Most ask for none; then nobody has to be asked what he has.
  if (!placed.some(({ placement }) => coresOf(placement.AllocatedResources).length > 0)) {
    return undefined;
  }
  const offered = new Set(node.NodeResources.Cpu.ReservableCpuCores);
  return isShared(offered, coresOf, holders, placed) ? 'cores' : undefined;
}

function sharedDevice(node: Node, holders: Holders, placed: readonly Placed[]): string | undefined {
  return isShared(healthyPieces(node), piecesOf, holders, placed) ? 'devices' : undefined;
}

/** Whether a placement has something that the node does not offer, or that somebody else has. */
function isShared<T>(
  offered: ReadonlySet<T>,
  heldBy: (resources: Holder['AllocatedResources']) => readonly T[],
  holders: Holders,
  placed: readonly Placed[],
): boolean {
  if (placed.every(({ placement }) => heldBy(placement.AllocatedResources).length === 0)) {
    return false;
  }
  const owners = new Owners<T>();
  for (const { ID, AllocatedResources } of holders.values()) {
    for (const thing of heldBy(AllocatedResources)) owners.add(thing, ID);
  }
  for (const { placement, predecessor } of placed) {
    for (const thing of heldBy(placement.AllocatedResources)) {
      if (!offered.has(thing) || owners.isTaken(thing, predecessor)) return true;
      owners.add(thing, placement.ID);
    }
  }
  return false;
}

function sharedPort(
  node: Node,
  holders: Holders,
  placed: readonly Placed[],
  job: Job | undefined,
): string | undefined {
  if (!placed.some(({ placement }) => portsOf(placement.AllocatedResources).length > 0)) {
    return undefined;
  }
  const reserved = parsePortList(node.ReservedResources.Networks.ReservedHostPorts);
  const keyOf = (port: AllocatedPort): string => `${port.HostIP}:${port.Value}`;
  const owners = new Owners<string>();
  for (const { ID, AllocatedResources } of holders.values()) {
    for (const port of portsOf(AllocatedResources)) owners.add(keyOf(port), ID);
  }
  for (const { placement, predecessor } of placed) {
    const careless = collisionsIgnored(job, placement.TaskGroup);
    for (const port of portsOf(placement.AllocatedResources)) {
      const isBusy = reserved.has(port.Value) || owners.isTaken(keyOf(port), predecessor);
      if (isBusy && !careless.has(port.Label)) {
        return `network: port collision ${port.Label}=${port.Value}`;
      }
      owners.add(keyOf(port), placement.ID);
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
