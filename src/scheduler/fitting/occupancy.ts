/** Who holds what of a node: what may be kept from one evaluation to the next. */
import type { AllocatedResources } from '../../model/allocation/allocated-resources.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { holdsResources } from '../../model/allocation/allocation-rules.ts';
import { piecesOf } from './devices.ts';
import { portsOf, TakenPorts } from './ports.ts';
import { coresOf, type Need, needOf } from './resources.ts';

/** Who holds what of a node before an evaluation begins. It does not change while one is decided. */
export interface Occupancy {
  /** Sum of the needs of all allocations that hold something. */
  readonly used: Need;
  readonly ports: TakenPorts;
  /** How many hold each core: one at most, unless a node lies. */
  readonly cores: ReadonlyMap<number, number>;
  /** The same of pieces of devices. */
  readonly devices: ReadonlyMap<string, number>;
}

/**
 * An occupancy that follows its allocations: all is what adding up those that hold something gives,
 * as they were last told of.
 */
export class NodeOccupancy implements Occupancy {
  readonly #used: Sum = { cpu: 0, memory: 0, disk: 0, cores: 0 };
  readonly #rows: () => Iterable<Allocation>;
  /** Added up from the rows when first asked for, and kept from then on. */
  #ports: TakenPorts | undefined;
  #cores: Map<number, number> | undefined;
  #devices: Map<string, number> | undefined;

  /** `rows` are those that were told of so far. */
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

  /** An allocation of the node came, changed or went. Tells whether that changed what is held. */
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

/** The part of a view of the cluster that tells who is on a node. */
export interface OccupancyView {
  /** Every allocation that occupies the node, of all namespaces; finished ones may be left out. */
  allocationsOnNode(nodeId: string): Iterable<Allocation>;
}

/** As the node is now. */
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

/** Things of which there is only one each. */
function countHeld<T>(held: Map<T, number>, things: readonly T[], by: 1 | -1): void {
  for (const thing of things) {
    const left = (held.get(thing) ?? 0) + by;
    if (left === 0) held.delete(thing);
    else held.set(thing, left);
  }
}
