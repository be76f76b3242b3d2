/** Where the job's live allocations are, with what the plan does so far. */
import type { Allocation } from '../model/allocation/allocation.ts';
import { isTerminal } from '../model/allocation/allocation-rules.ts';
import type { Node } from '../model/node/node.ts';
import type { Reader } from './target.ts';

export type Located = Pick<Allocation, 'ID' | 'TaskGroup' | 'NodeID'>;

export class JobPresence {
  readonly #live = new Map<string, Located>();
  /** What the plan stops: their values stay in use for even spreads, with a count of 0. */
  readonly #cleared: Located[] = [];
  readonly #findNode: (id: string) => Node | undefined;

  constructor(findNode: (id: string) => Node | undefined, allocations: Iterable<Allocation>) {
    this.#findNode = findNode;
    for (const allocation of allocations) if (!isTerminal(allocation)) this.add(allocation);
  }

  add(allocation: Located): void {
    this.#live.set(allocation.ID, allocation);
  }

  remove(id: string): Located | undefined {
    const allocation = this.#live.get(id);
    if (allocation === undefined) return undefined;
    this.#live.delete(id);
    this.#cleared.push(allocation);
    return allocation;
  }

  /** Live allocations by node; of one group, or of the whole job. */
  byNode(group?: string): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { NodeID, TaskGroup } of this.#live.values()) {
      if (group === undefined || TaskGroup === group) {
        counts.set(NodeID, (counts.get(NodeID) ?? 0) + 1);
      }
    }
    return counts;
  }

  /** Live allocations by the value that their nodes have. */
  byValue(read: Reader, group?: string): Map<string, number> {
    const counts = new Map<string, number>();
    const count = (allocation: Located, by: number): void => {
      if (group !== undefined && allocation.TaskGroup !== group) return;
      const node = this.#findNode(allocation.NodeID);
      const value = node === undefined ? undefined : read(node);
      if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + by);
    };
    for (const allocation of this.#live.values()) count(allocation, 1);
    for (const allocation of this.#cleared) count(allocation, 0);
    return counts;
  }
}

/**
 * One attribute over the candidate nodes: which value each has, and how many live allocations have
 * that value. Values are numbered so that a scan of the nodes compares no text.
 */
export class ValueColumn {
  /** By slot; -1 where the node lacks the attribute. */
  readonly valueOf: Int32Array;
  readonly names: string[] = [];
  readonly counts: number[] = [];
  /** Whether some allocation has, or had before this plan, the value. */
  readonly inUse: boolean[] = [];
  readonly #read: Reader;
  readonly #numbers = new Map<string, number>();

  constructor(read: Reader, nodes: readonly Node[], used: ReadonlyMap<string, number>) {
    this.#read = read;
    this.valueOf = Int32Array.from(nodes, (node) => this.numberOf(node));
    for (const [value, count] of used) {
      const number = this.#number(value);
      this.counts[number] = count;
      this.inUse[number] = true;
    }
  }

  /** The number of the node's value; -1 without one. */
  numberOf(node: Node): number {
    const value = this.#read(node);
    return value === undefined ? -1 : this.#number(value);
  }

  change(node: Node, by: number): void {
    const number = this.numberOf(node);
    if (number < 0) return;
    this.counts[number] = this.counts[number]! + by;
    this.inUse[number] = true;
  }

  #number(value: string): number {
    const known = this.#numbers.get(value);
    if (known !== undefined) return known;
    const number = this.names.length;
    this.#numbers.set(value, number);
    this.names.push(value);
    this.counts.push(0);
    this.inUse.push(false);
    return number;
  }
}
