/** The nodes of a job's live allocations, with the plan's changes so far. */
import { each, type Steps } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { isTerminal } from '../../model/allocation/allocation-rules.ts';
import type { Node } from '../../model/node/node.ts';
import type { Reader } from '../fitting/target.ts';
import type { Numbering } from './numbering.ts';

export type Located = Pick<Allocation, 'ID' | 'TaskGroup' | 'NodeID'>;

/** No group has this name. */
const everyGroup = '';
const nowhere: ReadonlyMap<string, number> = new Map();

export class JobLocations {
  readonly #live = new Map<string, Located>();
  /** Live allocations by group and node; `everyGroup` counts the whole job. */
  readonly #counts = new Map<string, Map<string, number>>();
  /** Allocations that the plan stops: an even spread keeps their values, with a count of 0. */
  readonly #removed: Located[] = [];
  readonly #findNode: (id: string) => Node | undefined;

  private constructor(findNode: (id: string) => Node | undefined) {
    this.#findNode = findNode;
  }

  static *of(
    findNode: (id: string) => Node | undefined,
    allocations: Iterable<Allocation>,
  ): Steps<JobLocations> {
    const locations = new JobLocations(findNode);
    yield* each(allocations, (allocation) => {
      if (!isTerminal(allocation)) locations.add(allocation);
    });
    return locations;
  }

  add(allocation: Located): void {
    this.#live.set(allocation.ID, allocation);
    this.#countLocation(allocation, 1);
  }

  has(id: string): boolean {
    return this.#live.has(id);
  }

  remove(id: string): Located | undefined {
    const allocation = this.#live.get(id);
    if (allocation === undefined) return undefined;
    this.#live.delete(id);
    this.#countLocation(allocation, -1);
    this.#removed.push(allocation);
    return allocation;
  }

  /** Counts live allocations by node, for a group or the whole job. */
  byNode(group: string = everyGroup): ReadonlyMap<string, number> {
    return this.#counts.get(group) ?? nowhere;
  }

  #countLocation({ TaskGroup, NodeID }: Located, by: 1 | -1): void {
    for (const group of [TaskGroup, everyGroup]) {
      let counts = this.#counts.get(group);
      if (counts === undefined) {
        counts = new Map();
        this.#counts.set(group, counts);
      }
      const count = (counts.get(NodeID) ?? 0) + by;
      if (count === 0) counts.delete(NodeID);
      else counts.set(NodeID, count);
    }
  }

  /** Counts live allocations by the value of their node. */
  byValue(read: Reader, group?: string): Map<string, number> {
    const counts = new Map<string, number>();
    const count = (allocation: Located, by: number): void => {
      if (group !== undefined && allocation.TaskGroup !== group) return;
      const node = this.#findNode(allocation.NodeID);
      const value = node === undefined ? undefined : read(node);
      if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + by);
    };
    for (const allocation of this.#live.values()) count(allocation, 1);
    for (const allocation of this.#removed) count(allocation, 0);
    return counts;
  }
}

/** Counts live allocations by the number of their node's value of an attribute. */
export class ValueCounts {
  readonly #read: Reader;
  readonly #values: Numbering;
  readonly #counts: number[] = [];
  /** By number, whether an allocation has the value, or had it before this plan. */
  readonly #inUse: boolean[] = [];

  constructor(read: Reader, values: Numbering, used: ReadonlyMap<string, number>) {
    this.#read = read;
    this.#values = values;
    for (const [value, count] of used) {
      const number = values.of(value);
      this.#counts[number] = count;
      this.#inUse[number] = true;
    }
  }

  /** The number of the node's value; -1: the node has none. */
  numberOf(node: Node): number {
    const value = this.#read(node);
    return value === undefined ? -1 : this.#values.of(value);
  }

  name(number: number): string {
    return this.#values.names[number]!;
  }

  count(number: number): number {
    return this.#counts[number] ?? 0;
  }

  isInUse(number: number): boolean {
    return this.#inUse[number] === true;
  }

  /** The numbers of values in use now or before. */
  *inUse(): Iterable<number> {
    for (const [number, isUsed] of this.#inUse.entries()) if (isUsed) yield number;
  }

  change(number: number, by: number): void {
    this.#counts[number] = this.count(number) + by;
    this.#inUse[number] = true;
  }
}
