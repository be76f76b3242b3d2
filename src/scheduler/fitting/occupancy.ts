/** The resources of a node that allocations hold in the state. Kept from one evaluation to the next. */
import type { AllocatedResources } from '../../model/allocation/allocated-resources.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { holdsResources } from '../../model/allocation/allocation-rules.ts';
import { piecesOf } from './devices.ts';
import { portsOf, TakenPorts } from './ports.ts';
import { coresOf, type Need, needOf } from './resources.ts';

/** The resources of a node that allocations hold. It does not change while an evaluation is decided. */
export interface Occupancy {
  /** Sum of the needs of all allocations that hold something. */
  readonly used: Need;
  readonly ports: TakenPorts;
  /** The number of allocations that hold each core: at most 1, unless a node reports wrongly. */
  readonly cores: ReadonlyMap<number, number>;
  /** The number of allocations that hold each device piece. */
  readonly devices: ReadonlyMap<string, number>;
}

/**
 * An occupancy that follows changes of its allocations. Its sums always equal those computed from
 * scratch over the allocations reported so far.
 */
export class NodeOccupancy implements Occupancy {
  readonly #used: Sum = { cpu: 0, memory: 0, disk: 0, cores: 0 };
  readonly #rows: () => Iterable<Allocation>;
  /** Added up from the rows on first use, then kept up to date. */
  #ports: TakenPorts | undefined;
  #cores: Map<number, number> | undefined;
  #devices: Map<string, number> | undefined;

  /** `rows` lists the allocations reported so far. */
  constructor(rows: () => Iterable<Allocation>) {
    this.#rows = rows;
  }

  get used(): Need {
    return this.#used;
  }

  get ports(): TakenPorts {
    if (this.#ports === undefined) {
      this.#ports = new TakenPorts();
      for (const resources of this.#heldResources()) this.#ports.add(portsOf(resources));
    }
    return this.#ports;
  }

  get cores(): ReadonlyMap<number, number> {
    if (this.#cores === undefined) {
      this.#cores = new Map();
      for (const resources of this.#heldResources()) countHeld(this.#cores, coresOf(resources), 1);
    }
    return this.#cores;
  }

  get devices(): ReadonlyMap<string, number> {
    if (this.#devices === undefined) {
      this.#devices = new Map();
      for (const resources of this.#heldResources())
        countHeld(this.#devices, piecesOf(resources), 1);
    }
    return this.#devices;
  }

  /**
   * Notes that an allocation of the node was added, changed or removed. Returns whether the occupancy
   * changed.
   */
  change(before: Allocation | undefined, after: Allocation | undefined): boolean {
    const had = heldBy(before);
    const has = heldBy(after);
    if (had === has) return false;
    if (had !== undefined) {
      lower(this.#used, needOf(had));
      this.#ports?.remove(portsOf(had));
      if (this.#cores !== undefined) countHeld(this.#cores, coresOf(had), -1);
      if (this.#devices !== undefined) countHeld(this.#devices, piecesOf(had), -1);
    }
    if (has !== undefined) {
      raise(this.#used, needOf(has));
      this.#ports?.add(portsOf(has));
      if (this.#cores !== undefined) countHeld(this.#cores, coresOf(has), 1);
      if (this.#devices !== undefined) countHeld(this.#devices, piecesOf(has), 1);
    }
    return true;
  }

  *#heldResources(): Iterable<AllocatedResources> {
    for (const allocation of this.#rows()) {
      if (holdsResources(allocation)) yield allocation.AllocatedResources;
    }
  }
}

const heldBy = (allocation: Allocation | undefined): AllocatedResources | undefined =>
  allocation !== undefined && holdsResources(allocation)
    ? allocation.AllocatedResources
    : undefined;

/** The part of a cluster view that lists allocations by node. */
export interface OccupancyView {
  /**
   * All allocations that hold resources of the node, of all namespaces; finished ones may be left
   * out.
   */
  allocationsOnNode(nodeId: string): Iterable<Allocation>;
}

/** The occupancy of a node with these allocations. */
export function occupancyOf(rows: () => Iterable<Allocation>): NodeOccupancy {
  const occupancy = new NodeOccupancy(rows);
  for (const allocation of rows()) occupancy.change(undefined, allocation);
  return occupancy;
}

export type Sum = { -readonly [K in keyof Need]: Need[K] };

export function raise(sum: Sum, by: Need): void {
  sum.cpu += by.cpu;
  sum.memory += by.memory;
  sum.disk += by.disk;
  sum.cores += by.cores;
}

export function lower(sum: Sum, by: Need): void {
  sum.cpu -= by.cpu;
  sum.memory -= by.memory;
  sum.disk -= by.disk;
  sum.cores -= by.cores;
}

/** For cores and device pieces, each of which exists only once. */
function countHeld<T>(held: Map<T, number>, things: readonly T[], by: 1 | -1): void {
  for (const thing of things) {
    const left = (held.get(thing) ?? 0) + by;
    if (left === 0) held.delete(thing);
    else held.set(thing, left);
  }
}
