/**
 * A node while an evaluation is decided: its occupancy, with the plan's changes so far.
 *
 * 1. A holder is an allocation that may still run (`holdsResources`), or that this plan places. An
 *    allocation that the plan stops stays a holder: its node has yet to report its end.
 * 2. A replacement on the same node may use its predecessor's resources, since the node starts it
 *    only after the predecessor has ended.
 * 3. An evicted allocation holds nothing: the node starts nothing new before it has ended.
 * 4. `used` is the sum of the holders' needs, less the resources that replacements take over.
 */
import type { AllocatedResources } from '../../model/allocation/allocated-resources.ts';
import type { Node } from '../../model/node/node.ts';
import {
  type AssignedDevices,
  assignDevices,
  piecesOf,
  suitablePieces,
  withDevices,
} from './devices.ts';
import { lower, type Occupancy, raise, type Sum } from './occupancy.ts';
import { PortLedger, portsOf } from './ports.ts';
import {
  type Ask,
  beyond,
  capacityOf,
  coresOf,
  holdsPieces,
  type Need,
  needOf,
  shortage,
  templateOn,
  withNetworks,
} from './resources.ts';

export type Fit =
  /** `need` comes on top of `used`; `devices` is the score of the device affinities. */
  | {
      readonly fits: true;
      readonly resources: AllocatedResources;
      readonly need: Need;
      readonly devices: number | undefined;
    }
  | { readonly fits: false; readonly dimension: string };

/** By how much an ask exceeds the free resources, pieces of devices included. */
export interface Missing extends Need {
  readonly devices: number;
}

/** A resource of which the node has too little. */
export interface Lack {
  readonly dimension: string;
  /** In the units of `Need`; `undefined` if no number tells the lack. */
  readonly amount:
    | { readonly asked: number; readonly free: number; readonly all: number }
    | undefined;
}

/** Amounts that the maker of a planned node has at hand. */
export interface KnownAmounts {
  /** The capacity of the node. */
  readonly capacity?: Need;
  /** The occupancy's amounts with what the plan placed so far, if that holds no pieces. */
  readonly used?: Need;
}

export class PlannedNode {
  readonly node: Node;
  readonly capacity: Need;
  readonly #used: Sum;
  readonly #before: Occupancy;
  /** Resources of the allocations that this plan places, if they hold pieces. */
  #added: AllocatedResources[] | undefined;
  /** Resources of the allocations that this plan evicts. */
  #evicted: AllocatedResources[] | undefined;
  readonly #portStart: number;
  /** Resources of the predecessor, while its replacement is being placed. */
  #lent: AllocatedResources | undefined;
  /** Built on first use. */
  #ledger: PortLedger | undefined;

  /** `portStart` is where the search for dynamic ports begins. */
  constructor(node: Node, occupancy: Occupancy, portStart = 0, known: KnownAmounts = {}) {
    this.node = node;
    this.capacity = known.capacity ?? capacityOf(node);
    this.#portStart = portStart;
    this.#before = occupancy;
    this.#used = { ...(known.used ?? occupancy.used) };
  }

  get used(): Need {
    return this.#used;
  }

  /** Places an allocation, on lent resources first. */
  add(resources: AllocatedResources): void {
    raise(this.#used, this.#needOnTop(needOf(resources)));
    if (!holdsPieces(resources)) return;
    this.#added ??= [];
    this.#added.push(resources);
    if (this.#ledger === undefined) return;
    const ports = portsOf(resources);
    this.#ledger.takePorts(ports);
    this.#ledger.searchBehind(ports);
  }

  /** Offers a holder's resources to the next placement, until `endLending`. */
  lend(resources: AllocatedResources): void {
    this.#lent = resources;
    this.#ledger = undefined;
  }

  endLending(): void {
    if (this.#lent === undefined) return;
    this.#lent = undefined;
    this.#ledger = undefined;
  }

  /** Frees a holder's resources, for good or until `undoEvict`. */
  evict(resources: AllocatedResources): void {
    lower(this.#used, needOf(resources));
    this.#evicted ??= [];
    this.#evicted.push(resources);
    this.#ledger = undefined;
  }

  /** Takes back an eviction. */
  undoEvict(resources: AllocatedResources): void {
    raise(this.#used, needOf(resources));
    this.#evicted!.splice(this.#evicted!.lastIndexOf(resources), 1);
    this.#ledger = undefined;
  }

  /** The resources that the group would get, or the first dimension that is short. */
  fit(ask: Ask): Fit {
    const freeCores = ask.cores === 0 ? [] : this.#freeCores();
    // Checked first: with too few cores the CPU would be short, too, and would be blamed.
    if (freeCores.length < ask.cores) return { fits: false, dimension: 'cores' };
    const template = templateOn(ask, this.node, freeCores);
    const need = this.#needOnTop(needOf(template));
    const dimension = shortage(this.#used, need, this.capacity);
    if (dimension !== undefined) return { fits: false, dimension };
    const pieces = ask.devices.length === 0 ? undefined : this.#assignDevices(ask);
    if (typeof pieces === 'string') return { fits: false, dimension: pieces };
    const equipped = pieces === undefined ? template : withDevices(template, pieces);
    const devices = pieces?.score;
    if (ask.networks.length === 0) return { fits: true, resources: equipped, need, devices };
    const assigned = this.#portLedger().assign(ask.networks);
    if (typeof assigned === 'string') return { fits: false, dimension: assigned };
    return { fits: true, resources: withNetworks(equipped, assigned), need, devices };
  }

  /** The amounts that holders would have to free for the ask to fit, as far as sums can tell. */
  missing(ask: Ask): Missing {
    const freeCores = ask.cores === 0 ? [] : this.#freeCores();
    const need = this.#needOnTop(needOf(templateOn(ask, this.node, freeCores)));
    const short = (of: 'cpu' | 'memory' | 'disk') =>
      Math.max(this.#used[of] + need[of] - this.capacity[of], 0);
    return {
      cpu: short('cpu'),
      memory: short('memory'),
      disk: short('disk'),
      cores: Math.max(ask.cores - freeCores.length, 0),
      devices: ask.devices.length === 0 ? 0 : this.#missingPieces(ask),
    };
  }

  /** Every shortage for the ask, first the shortage that {@link fit} names; empty if the ask fits. */
  lacks(ask: Ask): readonly Lack[] {
    const fit = this.fit(ask);
    if (fit.fits) return [];
    const freeCores = ask.cores === 0 ? [] : this.#freeCores();
    const onTop = this.#needOnTop(needOf(templateOn(ask, this.node, freeCores)));
    const lacks: Lack[] = [];
    if (freeCores.length < ask.cores) {
      const amount = { asked: ask.cores, free: freeCores.length, all: this.capacity.cores };
      lacks.push({ dimension: 'cores', amount });
    }
    for (const dimension of ['cpu', 'memory', 'disk'] as const) {
      const all = this.capacity[dimension];
      if (this.#used[dimension] + onTop[dimension] <= all) continue;
      // Lent resources count as free, and as asked for.
      const yielded = this.#lent === undefined ? 0 : needOf(this.#lent)[dimension];
      const free = all - this.#used[dimension] + yielded;
      lacks.push({ dimension, amount: { asked: onTop[dimension] + yielded, free, all } });
    }
    const devices = ask.devices.length === 0 ? undefined : this.#assignDevices(ask);
    if (typeof devices === 'string') lacks.push({ dimension: devices, amount: undefined });
    return lacks.length > 0 ? lacks : [{ dimension: fit.dimension, amount: undefined }];
  }

  /** The amount that a need adds to `used`. */
  #needOnTop(need: Need): Need {
    return this.#lent === undefined ? need : beyond(need, needOf(this.#lent));
  }

  #portLedger(): PortLedger {
    if (this.#ledger !== undefined) return this.#ledger;
    const ledger = new PortLedger(this.node, this.#portStart, this.#before.ports);
    for (const resources of this.#added ?? []) ledger.takePorts(portsOf(resources));
    for (const resources of this.#evicted ?? []) ledger.noteLeaving(portsOf(resources));
    if (this.#lent !== undefined) ledger.noteLeaving(portsOf(this.#lent));
    this.#ledger = ledger;
    return ledger;
  }

  #freeCores(): readonly number[] {
    const isFree = this.#notHeld(this.#before.cores, coresOf);
    return this.node.NodeResources.Cpu.ReservableCpuCores.filter(isFree);
  }

  /** Returns a shortage in the words of the metrics. */
  #assignDevices({ devices }: Ask): AssignedDevices | string {
    const isFree = this.#notHeld(this.#before.devices, piecesOf);
    const assigned = assignDevices(this.node, devices, isFree);
    return typeof assigned === 'string' ? `devices: not enough ${assigned} free` : assigned;
  }

  /** At least 1 if the pieces do not suffice: there may be enough pieces, but of the wrong make. */
  #missingPieces(ask: Ask): number {
    if (typeof this.#assignDevices(ask) !== 'string') return 0;
    const isFree = this.#notHeld(this.#before.devices, piecesOf);
    const free = [...suitablePieces(this.node, ask.devices)].filter(isFree).length;
    return Math.max(ask.devices.reduce((sum, { count }) => sum + count, 0) - free, 1);
  }

  /** For cores and device pieces: tests whether no holder keeps the thing. */
  #notHeld<T>(
    before: ReadonlyMap<T, number>,
    heldBy: (resources: AllocatedResources) => readonly T[],
  ): (thing: T) => boolean {
    const held = new Map(before);
    const count = (resources: AllocatedResources, by: 1 | -1): void => {
      for (const thing of heldBy(resources)) held.set(thing, (held.get(thing) ?? 0) + by);
    };
    for (const resources of this.#added ?? []) count(resources, 1);
    for (const resources of this.#evicted ?? []) count(resources, -1);
    if (this.#lent !== undefined) count(this.#lent, -1);
    return (thing) => (held.get(thing) ?? 0) <= 0;
  }
}
