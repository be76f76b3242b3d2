/**
 * A node while an evaluation is decided: who holds what of it, with what the plan does so far.
 *
 * 1. A holder is an allocation that may still run (`occupiesNode`), or one that this plan places.
 *    What a plan stops holds on: its node has yet to say that it ended.
 * 2. A replacement on the same node may have what its predecessor has, since the node starts it
 *    only when the predecessor has ended. One that still waits for a predecessor of its own has
 *    nothing to hand on.
 * 3. `used` is the sum of the needs of the holders, less what this plan's replacements take over.
 */
import type { AllocatedResources } from '../model/allocation/allocated-resources.ts';
import type { Node } from '../model/node/node.ts';
import { type Holder, type Occupancy, raise, type Sum } from './occupancy.ts';
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
  /** `need` is what comes on top of `used`. */
  | { readonly fits: true; readonly resources: AllocatedResources; readonly need: Need }
  | { readonly fits: false; readonly dimension: string };

export class NodeRoom {
  readonly node: Node;
  readonly capacity: Need;
  readonly #used: Sum;
  readonly #before: ReadonlyMap<string, Holder>;
  /** What this plan places. */
  readonly #added = new Map<string, Holder>();
  readonly #portStart: number;
  /** Id of the holder that makes way for what is placed next. */
  #yielding: string | undefined;
  /** Built when ports are first asked for. */
  #ledger: PortLedger | undefined;

  /** `portStart` is where the search for dynamic ports begins. */
  constructor(node: Node, { holders, used }: Occupancy, portStart = 0) {
    this.node = node;
    this.capacity = capacityOf(node);
    this.#portStart = portStart;
    this.#before = holders;
    this.#used = { ...used };
  }

  get used(): Need {
    return this.#used;
  }

  /** Places an allocation; where another makes way, in its place. */
  add(id: string, resources: AllocatedResources): void {
    raise(this.#used, this.#onTop(needOf(resources)));
    this.#added.set(id, { resources, previous: this.#yielding ?? '' });
    if (this.#ledger === undefined) return;
    const ports = portsOf(resources);
    this.#ledger.take(ports);
    this.#ledger.passed(ports);
  }

  /** Lets what comes next have what this one has, until `resume`. */
  yield(id: string): void {
    const holder = this.#holder(id);
    if (holder === undefined || this.#holder(holder.previous) !== undefined) return;
    this.#yielding = id;
    this.#ledger = undefined;
  }

  resume(): void {
    if (this.#yielding === undefined) return;
    this.#yielding = undefined;
    this.#ledger = undefined;
  }

  /** The first dimension that is short, or the resources that the group would get. */
  fit(ask: Ask): Fit {
    const freeCores = ask.cores === 0 ? [] : this.#freeCores();
    const template = templateOn(ask, this.node, freeCores);
    const need = this.#onTop(needOf(template));
    const dimension = shortage(this.#used, need, this.capacity);
    if (dimension !== undefined) return { fits: false, dimension };
    if (freeCores.length < ask.cores) return { fits: false, dimension: 'cores' };
    if (ask.networks.length === 0) return { fits: true, resources: template, need };
    const assigned = this.#ports().assign(ask.networks);
    if (typeof assigned === 'string') return { fits: false, dimension: assigned };
    return { fits: true, resources: withNetworks(template, assigned), need };
  }

  /** What a need adds to `used`. */
  #onTop(need: Need): Need {
    const yielding = this.#yielding === undefined ? undefined : this.#holder(this.#yielding);
    return yielding === undefined ? need : beyond(need, needOf(yielding.resources));
  }

  #ports(): PortLedger {
    if (this.#ledger !== undefined) return this.#ledger;
    const ledger = new PortLedger(this.node, this.#portStart);
    for (const [id, { resources }] of this.#holders()) {
      if (id === this.#yielding) ledger.leave(portsOf(resources));
      else ledger.take(portsOf(resources));
    }
    this.#ledger = ledger;
    return ledger;
  }

  #freeCores(): readonly number[] {
    const taken = new Set<number>();
    for (const [id, { resources }] of this.#holders()) {
      if (id === this.#yielding) continue;
      for (const core of coresOf(resources)) taken.add(core);
    }
    return this.node.NodeResources.Cpu.ReservableCpuCores.filter((core) => !taken.has(core));
  }

  #holder(id: string): Holder | undefined {
    return this.#added.get(id) ?? this.#before.get(id);
  }

  *#holders(): Iterable<readonly [string, Holder]> {
    yield* this.#before;
    yield* this.#added;
  }
}
