/** The nodes of a job's live allocations, with the plan's changes so far. */
import { each, type Steps } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { isTerminal } from '../../model/allocation/allocation-rules.ts';
import type { Node } from '../../model/node/node.ts';
import type { Reader } from '../fitting/target.ts';
import type { Numbering } from './numbering.ts';

export type Located = Pick<Allocation, 'ID' | 'TaskGroup' | 'NodeID'>;

const nowhere: ReadonlyMap<string, number> = new Map();

export class JobLocations {
  readonly #live = new Map<string, Located>();
  /** Allocations that the plan places. They stay. */
  readonly #placed: Located[] = [];
  /** How many of them are in the counts: the others are added when somebody asks for counts. */
  #counted = 0;
  /** Live allocations by group and node. */
  readonly #counts = new Map<string, Map<string, number>>();
  /** The same for the whole job, once somebody has asked. */
  #allCounts: Map<string, number> | undefined;
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

  /** Adds an allocation that the plan places. */
  place(allocation: Located): void {
    this.#placed.push(allocation);
  }

  /** Whether an allocation from before the plan is there. */
  has(id: string): boolean {
    return this.#live.has(id);
  }

  /** Removes an allocation from before the plan. */
  remove(id: string): Located | undefined {
    const allocation = this.#live.get(id);
    if (allocation === undefined) return undefined;
    this.#live.delete(id);
    this.#countLocation(allocation, -1);
    this.#removed.push(allocation);
    return allocation;
  }

  /** Counts live allocations by node, for a group or the whole job. */
  byNode(group?: string): ReadonlyMap<string, number> {
    while (this.#counted < this.#placed.length) {
      this.#countLocation(this.#placed[this.#counted++]!, 1);
    }
    if (group !== undefined) return this.#counts.get(group) ?? nowhere;
    if (this.#allCounts === undefined) {
      this.#allCounts = new Map();
      for (const { NodeID } of this.#live.values()) addTo(this.#allCounts, NodeID, 1);
      for (const { NodeID } of this.#placed) addTo(this.#allCounts, NodeID, 1);
    }
    return this.#allCounts;
  }

  #countLocation({ TaskGroup, NodeID }: Located, by: 1 | -1): void {
    let counts = this.#counts.get(TaskGroup);
    if (counts === undefined) {
      counts = new Map();
      this.#counts.set(TaskGroup, counts);
    }
    addTo(counts, NodeID, by);
    if (this.#allCounts !== undefined) addTo(this.#allCounts, NodeID, by);
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
    for (const allocation of this.#placed) count(allocation, 1);
    for (const allocation of this.#removed) count(allocation, 0);
    return counts;
  }
}

/** A node without allocations has no count. */
function addTo(counts: Map<string, number>, nodeId: string, by: 1 | -1): void {
  const count = (counts.get(nodeId) ?? 0) + by;
  if (count === 0) counts.delete(nodeId);
  else counts.set(nodeId, count);
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
