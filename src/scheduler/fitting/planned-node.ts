/**
 * A node while an evaluation is decided: who holds what of it, with what the plan does so far.
 *
 * 1. A holder is an allocation that may still run (`holdsResources`), or one that this plan places.
 *    What a plan stops holds on: its node has yet to say that it ended.
 * 2. A replacement on the same node may have what its predecessor has, since the node starts it
 *    only when the predecessor has ended.
 * 3. What is evicted holds nothing from then on: the node starts nothing new before it has ended.
 * 4. `used` is the sum of the needs of the holders, less what this plan's replacements take over.
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
  type Need,
  needOf,
  shortage,
  templateOn,
  withNetworks,
} from './resources.ts';

export type Fit =
  /** `need` is what comes on top of `used`; `devices` the score of the device affinities. */
  | {
      readonly fits: true;
      readonly resources: AllocatedResources;
      readonly need: Need;
      readonly devices: number | undefined;
    }
  | { readonly fits: false; readonly dimension: string };

/** Amounts by which an ask goes beyond what is free; pieces of devices are counted as well. */
export interface Missing extends Need {
  readonly devices: number;
}

/** What a node cannot give. */
export interface Lack {
  readonly dimension: string;
  /** `undefined` where it cannot be told in numbers. Units as those of `Need`. */
  readonly amount:
    | { readonly asked: number; readonly free: number; readonly all: number }
    | undefined;
}

export class PlannedNode {
  readonly node: Node;
  readonly capacity: Need;
  readonly #used: Sum;
  readonly #before: Occupancy;
  /** What this plan places. */
  readonly #added: AllocatedResources[] = [];
  /** What this plan evicts. */
  readonly #evicted: AllocatedResources[] = [];
  readonly #portStart: number;
  /** Of the holder that makes way for what is placed next. */
  #lent: AllocatedResources | undefined;
  /** Built when ports are first asked for. */
  #ledger: PortLedger | undefined;

  /** `portStart` is where the search for dynamic ports begins. */
  constructor(node: Node, occupancy: Occupancy, portStart = 0) {
    this.node = node;
    this.capacity = capacityOf(node);
    this.#portStart = portStart;
    this.#before = occupancy;
    this.#used = { ...occupancy.used };
  }

  get used(): Need {
    return this.#used;
  }

  /** Places an allocation; where another makes way, in its place. */
  add(resources: AllocatedResources): void {
    raise(this.#used, this.#needOnTop(needOf(resources)));
    this.#added.push(resources);
    if (this.#ledger === undefined) return;
    const ports = portsOf(resources);
    this.#ledger.takePorts(ports);
    this.#ledger.searchBehind(ports);
  }

  /** Lets what comes next have what a holder has, until `resume`. */
  lend(resources: AllocatedResources): void {
    this.#lent = resources;
    this.#ledger = undefined;
  }

  endLending(): void {
    if (this.#lent === undefined) return;
    this.#lent = undefined;
    this.#ledger = undefined;
  }

  /** Lets what comes next have what a holder has, for good or until `spare`. */
  evict(resources: AllocatedResources): void {
    lower(this.#used, needOf(resources));
    this.#evicted.push(resources);
    this.#ledger = undefined;
  }

  /** Takes back an eviction. */
  undoEvict(resources: AllocatedResources): void {
    raise(this.#used, needOf(resources));
    this.#evicted.splice(this.#evicted.lastIndexOf(resources), 1);
    this.#ledger = undefined;
  }

  /** The first dimension that is short, or the resources that the group would get. */
  fit(ask: Ask): Fit {
    const freeCores = ask.cores === 0 ? [] : this.#freeCores();
    // Their share of the CPU would be short as well, and is not what was asked for.
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

  /** What holders would have to give up for the ask to fit, as far as sums tell. */
  missing(ask: Ask): Missing {
    const freeCores = ask.cores === 0 ? [] : this.#freeCores();
    const need = this.#needOnTop(needOf(templateOn(ask, this.node, freeCores)));
    const short = (of: 'cpu' | 'memory' | 'disk') =>
      Math.max(this.#used[of] + need[of] - this.capacity[of], 0);
    return {
      ...{ cpu: short('cpu'), memory: short('memory'), disk: short('disk') },
      cores: Math.max(ask.cores - freeCores.length, 0),
      devices: ask.devices.length === 0 ? 0 : this.#missingPieces(ask),
    };
  }

  /** All that is short for the ask, what {@link fit} names first; empty when it fits. */
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
      // What makes way is free for what comes, which counts for that much at least.
      const yielded = this.#lent === undefined ? 0 : needOf(this.#lent)[dimension];
      const free = all - this.#used[dimension] + yielded;
      lacks.push({ dimension, amount: { asked: onTop[dimension] + yielded, free, all } });
    }
    const devices = ask.devices.length === 0 ? undefined : this.#assignDevices(ask);
    if (typeof devices === 'string') lacks.push({ dimension: devices, amount: undefined });
    return lacks.length > 0 ? lacks : [{ dimension: fit.dimension, amount: undefined }];
  }

  /** What a need adds to `used`. */
  #needOnTop(need: Need): Need {
    return this.#lent === undefined ? need : beyond(need, needOf(this.#lent));
  }

  #portLedger(): PortLedger {
    if (this.#ledger !== undefined) return this.#ledger;
    const ledger = new PortLedger(this.node, this.#portStart, this.#before.ports);
    for (const resources of this.#added) ledger.takePorts(portsOf(resources));
    for (const resources of this.#evicted) ledger.noteLeaving(portsOf(resources));
    if (this.#lent !== undefined) ledger.noteLeaving(portsOf(this.#lent));
    this.#ledger = ledger;
    return ledger;
  }

  #freeCores(): readonly number[] {
    const isFree = this.#notHeld(this.#before.cores, coresOf);
    return this.node.NodeResources.Cpu.ReservableCpuCores.filter(isFree);
  }

  /** Or what is short, as metrics tell it. */
  #assignDevices({ devices }: Ask): AssignedDevices | string {
    const isFree = this.#notHeld(this.#before.devices, piecesOf);
    const assigned = assignDevices(this.node, devices, isFree);
    return typeof assigned === 'string' ? `devices: not enough ${assigned} free` : assigned;
  }

  /** At least one where they are not enough, though there may be as many as are asked for. */
  #missingPieces(ask: Ask): number {
    if (typeof this.#assignDevices(ask) !== 'string') return 0;
    const isFree = this.#notHeld(this.#before.devices, piecesOf);
    const free = [...suitablePieces(this.node, ask.devices)].filter(isFree).length;
    return Math.max(ask.devices.reduce((sum, { count }) => sum + count, 0) - free, 1);
  }

  /** Of things of which there is only one each: whether nobody holds it who does not give it up. */
  #notHeld<T>(
    before: ReadonlyMap<T, number>,
    heldBy: (resources: AllocatedResources) => readonly T[],
  ): (thing: T) => boolean {
    const held = new Map(before);
    const count = (resources: AllocatedResources, by: 1 | -1): void => {
      for (const thing of heldBy(resources)) held.set(thing, (held.get(thing) ?? 0) + by);
    };
    for (const resources of this.#added) count(resources, 1);
    for (const resources of this.#evicted) count(resources, -1);
    if (this.#lent !== undefined) count(this.#lent, -1);
    return (thing) => (held.get(thing) ?? 0) <= 0;
  }
}
