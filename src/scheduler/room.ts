/**
 * A node while an evaluation is decided: who holds what of it, with what the plan does so far.
 *
 * 1. `used` is the sum of the needs of the holders.
 * 2. A holder is an allocation that may still run (`occupiesNode`) and that this plan does not
 *    stop, or one that this plan places.
 */
import type { AllocatedResources } from '../model/allocation/allocated-resources.ts';
import type { Allocation } from '../model/allocation/allocation.ts';
import { occupiesNode } from '../model/allocation/allocation-rules.ts';
import type { Node } from '../model/node/node.ts';
import { PortLedger, portsOf } from './ports.ts';
import {
  type Ask,
  capacityOf,
  type Need,
  needOf,
  shortage,
  templateOn,
  withNetworks,
} from './resources.ts';

export type Fit =
  | { readonly fits: true; readonly resources: AllocatedResources; readonly need: Need }
  | { readonly fits: false; readonly dimension: string };

export class NodeRoom {
  readonly node: Node;
  readonly capacity: Need;
  readonly #used = { cpu: 0, memory: 0, disk: 0, cores: 0 };
  readonly #holders = new Map<string, AllocatedResources>();
  readonly #left: AllocatedResources[] = [];
  readonly #portStart: number;
  /** Built when ports are first asked for. */
  #ledger: PortLedger | undefined;

  /** `portStart` is where the search for dynamic ports begins. */
  constructor(node: Node, allocations: Iterable<Allocation>, portStart = 0) {
    this.node = node;
    this.capacity = capacityOf(node);
    this.#portStart = portStart;
    for (const allocation of allocations) {
      if (occupiesNode(allocation)) this.add(allocation.ID, allocation.AllocatedResources);
    }
  }

  get used(): Need {
    return this.#used;
  }

  add(id: string, resources: AllocatedResources): void {
    this.#holders.set(id, resources);
    this.#count(needOf(resources), 1);
    if (this.#ledger === undefined) return;
    const ports = portsOf(resources);
    this.#ledger.take(ports);
    this.#ledger.passed(ports);
  }

  /** Takes an allocation out, because the plan stops it. Does nothing for one that holds nothing. */
  remove(id: string): AllocatedResources | undefined {
    const resources = this.#holders.get(id);
    if (resources === undefined) return undefined;
    this.#holders.delete(id);
    this.#left.push(resources);
    this.#count(needOf(resources), -1);
    // Two holders may share a port that ignores collisions: count anew.
    this.#ledger = undefined;
    return resources;
  }

  /** The first dimension that is short, or the resources that the group would get. */
  fit(ask: Ask): Fit {
    const freeCores = ask.cores === 0 ? [] : this.#freeCores();
    const template = templateOn(ask, this.node, freeCores);
    const need = needOf(template);
    const dimension = shortage(this.#used, need, this.capacity);
    if (dimension !== undefined) return { fits: false, dimension };
    if (freeCores.length < ask.cores) return { fits: false, dimension: 'cores' };
    if (ask.networks.length === 0) return { fits: true, resources: template, need };
    const assigned = this.#ports().assign(ask.networks);
    if (typeof assigned === 'string') return { fits: false, dimension: assigned };
    return { fits: true, resources: withNetworks(template, assigned), need };
  }

  #ports(): PortLedger {
    if (this.#ledger !== undefined) return this.#ledger;
    const ledger = new PortLedger(this.node, this.#portStart);
    for (const resources of this.#holders.values()) ledger.take(portsOf(resources));
    for (const resources of this.#left) ledger.leave(portsOf(resources));
    this.#ledger = ledger;
    return ledger;
  }

  #freeCores(): readonly number[] {
    const taken = new Set<number>();
    for (const { Tasks } of this.#holders.values()) {
      for (const task of Object.values(Tasks)) {
        for (const core of task.Cpu.ReservedCores ?? []) taken.add(core);
      }
    }
    return this.node.NodeResources.Cpu.ReservableCpuCores.filter((core) => !taken.has(core));
  }

  #count(need: Need, sign: 1 | -1): void {
    this.#used.cpu += sign * need.cpu;
    this.#used.memory += sign * need.memory;
    this.#used.disk += sign * need.disk;
    this.#used.cores += sign * need.cores;
  }
}
