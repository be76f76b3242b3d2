/**
 * The ports of a node: tells the taken ports and chooses the ports of an allocation.
 * Source: docs/behaviour/scheduling.md#ports.
 *
 *  1. Two allocations never share a port of a host address, unless the port ignores collisions.
 *  2. The node's reserved host ports are never given, on any address.
 *  3. Dynamic ports come from the node's range and are the same for the same input: the search starts at
 *     an offset derived from the evaluation's id, continues behind the last port given, and takes a port of
 *     an allocation that leaves only as a last resort. So a freed port is rarely reused at once.
 */
import type {
  AllocatedPort,
  AllocatedResources,
} from '../../model/allocation/allocated-resources.ts';
import { defaultHostNetwork, type Network, type Port } from '../../model/network/network.ts';
import type { Node, NodeNetwork } from '../../model/node/node.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';

/** A network of the group (`task` is `''`) or, in the older form, of a task. */
export interface NetworkAsk {
  readonly task: string;
  readonly network: Network;
}

export interface AssignedNetwork extends NetworkAsk {
  readonly address: NodeNetwork | undefined;
  readonly reserved: readonly AllocatedPort[];
  readonly dynamic: readonly AllocatedPort[];
}

/** Only the first network of a group or a task counts. */
export function networkAsks(group: TaskGroup): readonly NetworkAsk[] {
  const asks = [
    { task: '', network: group.Networks?.[0] },
    ...group.Tasks.map((task) => ({ task: task.Name, network: task.Resources.Networks?.[0] })),
  ];
  return asks.flatMap(({ task, network }) => (network === undefined ? [] : [{ task, network }]));
}

const modeOf = (mode: string): string => mode || 'host';

export const offersMode = (node: Node, mode: string): boolean =>
  modeOf(mode) === 'none' ||
  node.NodeResources.Networks.some((network) => modeOf(network.Mode) === modeOf(mode));

/**
 * The address of a host network: the default is the first host-mode network, others go by device
 * name.
 */
export const hostAddress = (node: Node, name: string): NodeNetwork | undefined =>
  node.NodeResources.Networks.find(
    (network) =>
      modeOf(network.Mode) === 'host' && (name === defaultHostNetwork || network.Device === name),
  );

/** All ports of an allocation. */
export function portsOf(resources: AllocatedResources): readonly AllocatedPort[] {
  const ports: AllocatedPort[] = [...(resources.Shared.Ports ?? [])];
  for (const task of Object.values(resources.Tasks)) {
    for (const network of task.Networks ?? []) {
      ports.push(...network.ReservedPorts, ...network.DynamicPorts);
    }
  }
  return ports;
}

const parsedLists = new Map<string, ReadonlySet<number>>();
/** Not in limits: bounds a cache that has no visible effect. */
const parsedListsMax = 1000;

/**
 * Reads `22,80,8000-8010`. Skips malformed parts: the text comes from a node that is registered
 * already.
 */
export function parsePortList(text: string): ReadonlySet<number> {
  const known = parsedLists.get(text);
  if (known !== undefined) return known;
  const ports = new Set<number>();
  for (const part of text.split(',')) {
    const match = /^\s*(\d{1,5})(?:\s*-\s*(\d{1,5}))?\s*$/.exec(part);
    if (match === null) continue;
    const last = Math.min(Number(match[2] ?? match[1]), 65_535);
    for (let port = Number(match[1]); port <= last; port++) ports.add(port);
  }
  if (parsedLists.size >= parsedListsMax) parsedLists.clear();
  parsedLists.set(text, ports);
  return ports;
}

/** Counts holders by address and port; ports that ignore collisions may have several. */
export class TakenPorts {
  readonly #byAddress = new Map<string, Map<number, number>>();
  /** The number of ports with a holder. */
  #size = 0;

  get size(): number {
    return this.#size;
  }

  holders(address: string, port: number): number {
    return this.#byAddress.get(address)?.get(port) ?? 0;
  }

  add(ports: readonly AllocatedPort[]): void {
    for (const port of ports) {
      let holders = this.#byAddress.get(port.HostIP);
      if (holders === undefined) {
        holders = new Map();
        this.#byAddress.set(port.HostIP, holders);
      }
      const before = holders.get(port.Value) ?? 0;
      if (before === 0) this.#size++;
      holders.set(port.Value, before + 1);
    }
  }

  /** Removes ports added before. */
  remove(ports: readonly AllocatedPort[]): void {
    for (const port of ports) {
      const holders = this.#byAddress.get(port.HostIP);
      const left = (holders?.get(port.Value) ?? 0) - 1;
      if (left > 0) {
        holders?.set(port.Value, left);
      } else {
        holders?.delete(port.Value);
        this.#size--;
      }
    }
  }
}

/** The ports of a node while an evaluation is decided. */
export class PortLedger {
  readonly #node: Node;
  readonly #reserved: ReadonlySet<number>;
  /** Ports held before the evaluation; not changed here. */
  readonly #before: TakenPorts;
  readonly #taken = new TakenPorts();
  readonly #leaving = new TakenPorts();
  #cursor: number;

  constructor(node: Node, start: number, before: TakenPorts) {
    this.#node = node;
    this.#reserved = parsePortList(node.ReservedResources.Networks.ReservedHostPorts);
    this.#before = before;
    this.#cursor = start;
  }

  isTaken(address: string, port: number): boolean {
    if (this.#reserved.has(port)) return true;
    const holders = this.#before.holders(address, port) + this.#taken.holders(address, port);
    return holders > this.#leaving.holders(address, port);
  }

  takePorts(ports: readonly AllocatedPort[]): void {
    this.#taken.add(ports);
  }

  /** Ports of an allocation that leaves: given only as a last resort. */
  noteLeaving(ports: readonly AllocatedPort[]): void {
    this.#leaving.add(ports);
  }

  /** The next search begins behind the last of these ports. */
  searchBehind(ports: readonly AllocatedPort[]): void {
    const last = ports.at(-1);
    if (last !== undefined) this.#cursor = last.Value + 1;
  }

  /** Chooses ports for all asks without taking them, or returns the reason of the failure. */
  assign(asks: readonly NetworkAsk[]): readonly AssignedNetwork[] | string {
    const mine = new Set<string>();
    const assigned: AssignedNetwork[] = [];
    for (const { task, network } of asks) {
      const reserved = (network.ReservedPorts ?? []).map((port) => this.#staticPort(port, mine));
      const collision = reserved.find((port) => typeof port === 'string');
      if (collision !== undefined) return collision as string;
      const address = hostAddress(this.#node, defaultHostNetwork);
      assigned.push({
        task,
        network,
        address,
        reserved: reserved as AllocatedPort[],
        dynamic: [],
      });
    }
    for (const [position, entry] of assigned.entries()) {
      const dynamic: AllocatedPort[] = [];
      for (const port of entry.network.DynamicPorts ?? []) {
        const given = this.#dynamicPort(port, mine);
        if (given === undefined) return 'network: dynamic port selection failed';
        dynamic.push(given);
      }
      assigned[position] = { ...entry, dynamic };
    }
    return assigned;
  }

  #staticPort(port: Port, mine: Set<string>): AllocatedPort | string {
    const address = this.#addressOf(port);
    if (address === undefined) return 'network: no addresses available';
    const key = `${address} ${port.Value}`;
    if (!port.IgnoreCollision && (this.isTaken(address, port.Value) || mine.has(key))) {
      return `network: reserved port collision ${port.Label}=${port.Value}`;
    }
    mine.add(key);
    return allocated(port, port.Value, address);
  }

  #dynamicPort(port: Port, mine: Set<string>): AllocatedPort | undefined {
    const address = this.#addressOf(port);
    if (address === undefined) return undefined;
    const value =
      this.#findPort(address, mine, (free) => this.#leaving.holders(address, free) === 0) ??
      this.#findPort(address, mine, () => true);
    if (value === undefined) return undefined;
    mine.add(`${address} ${value}`);
    return allocated(port, value, address);
  }

  #findPort(address: string, mine: Set<string>, suits: (port: number) => boolean) {
    const { MinDynamicPort: least, MaxDynamicPort: greatest } = this.#node.NodeResources;
    const size = greatest - least + 1;
    if (size <= 0) return undefined;
    const start = (((this.#cursor - least) % size) + size) % size;
    for (let step = 0; step < size; step++) {
      const value = least + ((start + step) % size);
      if (!this.isTaken(address, value) && !mine.has(`${address} ${value}`) && suits(value)) {
        return value;
      }
    }
    return undefined;
  }

  #addressOf(port: Port): string | undefined {
    return hostAddress(this.#node, port.HostNetwork || defaultHostNetwork)?.IP;
  }
}

const allocated = (port: Port, value: number, address: string): AllocatedPort => ({
  Label: port.Label,
  Value: value,
  To: port.To === -1 ? value : port.To,
  HostIP: address,
  HostNetwork: port.HostNetwork || defaultHostNetwork,
});
