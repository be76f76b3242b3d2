/** The names of a group's allocations. Source: docs/behaviour/scheduling.md#names. */
import { each, type Steps } from '../../base/steps.ts';
import { allocationIndex, allocationName } from '../../model/allocation/allocation-rules.ts';

/** Hands out the indexes of names: each index once, the lowest free index first. */
export class NameIndex {
  readonly #job: string;
  readonly #group: string;
  readonly #used: Set<number>;
  #next = 0;

  private constructor(job: string, group: string, used: Set<number>) {
    this.#job = job;
    this.#group = group;
    this.#used = used;
  }

  /** `used`: the taken names. */
  static *of(job: string, group: string, used: Iterable<string>): Steps<NameIndex> {
    const indexes = new Set<number>();
    yield* each(used, (name) => indexes.add(allocationIndex(name)));
    return new NameIndex(job, group, indexes);
  }

  /** The name itself if its index is free, else the lowest free name, which repairs duplicates. */
  inherit(name: string): string {
    const index = allocationIndex(name);
    if (!this.#isFree(index)) return this.lowest();
    this.#used.add(index);
    return allocationName(this.#job, this.#group, index);
  }

  /** The first free name of the list, else the lowest free name. */
  firstOf(names: readonly string[]): string {
    const free = names.find((name) => this.#isFree(allocationIndex(name)));
    return free === undefined ? this.lowest() : this.inherit(free);
  }

  lowest(): string {
    while (this.#used.has(this.#next)) this.#next++;
    this.#used.add(this.#next);
    return allocationName(this.#job, this.#group, this.#next);
  }

  #isFree(index: number): boolean {
    return index >= 0 && !this.#used.has(index);
  }
}
