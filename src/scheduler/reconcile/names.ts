/** The names of a group's allocations. Source: docs/behaviour/scheduling.md#names. */
import { each, type Steps } from '../../base/steps.ts';
import { allocationIndex, nameBeforeIndex } from '../../model/allocation/allocation-rules.ts';

/**
 * Hands out the indexes of names: each index once, the lowest free index first.
 *
 * 1. Every index below `#next` is taken.
 * 2. An index from `#next` on is taken if `#used` has it.
 */
export class NameIndex {
  readonly #beforeIndex: string;
  readonly #used: Set<number>;
  #next = 0;

  private constructor(beforeIndex: string, used: Set<number>) {
    this.#beforeIndex = beforeIndex;
    this.#used = used;
  }

  /** `used`: the taken names. */
  static *of(job: string, group: string, used: Iterable<string>): Steps<NameIndex> {
    const indexes = new Set<number>();
    yield* each(used, (name) => indexes.add(allocationIndex(name)));
    return new NameIndex(nameBeforeIndex(job, group), indexes);
  }

  /** The name itself if its index is free, else the lowest free name, which repairs duplicates. */
  inherit(name: string): string {
    const index = allocationIndex(name);
    if (!this.#isFree(index)) return this.lowest();
    this.#used.add(index);
    return this.#name(index);
  }

  /** The first free name of the list, else the lowest free name. */
  firstOf(names: readonly string[]): string {
    const free = names.find((name) => this.#isFree(allocationIndex(name)));
    return free === undefined ? this.lowest() : this.inherit(free);
  }

  lowest(): string {
    while (this.#used.has(this.#next)) this.#next++;
    return this.#name(this.#next++);
  }

  #name(index: number): string {
    return `${this.#beforeIndex}${index}]`;
  }

  #isFree(index: number): boolean {
    return index >= this.#next && !this.#used.has(index);
  }
}
