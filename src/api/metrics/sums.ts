import type { Family, Sample } from './family.ts';

/** The metrics of several threads as one: the sum of each series. */
export function summed(threads: readonly (readonly Family[])[]): readonly Family[] {
  const [first = [], ...others] = threads;
  if (others.length === 0) return first;
  return first.map((one) => {
    const same = others.flatMap((families) => families.find(({ name }) => name === one.name) ?? []);
    return { ...one, values: sumOfSeries([one, ...same]) };
  });
}

/** Counts go on, while what a thread has open ends with it. */
const isCount = ({ type }: Family): boolean => type === 'counter' || type === 'histogram';

/**
 * What the threads of an agent told of themselves.
 *
 * Invariants
 *  T1. No count goes back: the counts of a thread that has ended are kept, and so are the last ones of a thread that
 *      does not answer. A counter that goes back would be taken for one that has begun again at 0.
 */
export class ToldMetrics<T extends object> {
  readonly #told = new Map<T, readonly Family[]>();
  /** The counts of all threads that have ended. */
  #ended: readonly Family[] = [];

  get all(): readonly (readonly Family[])[] {
    return [...this.#told.values(), this.#ended];
  }

  note(thread: T, families: readonly Family[]): void {
    this.#told.set(thread, families);
  }

  end(thread: T): void {
    const counts = (this.#told.get(thread) ?? []).filter(isCount);
    this.#told.delete(thread);
    if (counts.length > 0) this.#ended = summed([counts, this.#ended]);
  }
}

function sumOfSeries(families: readonly Family[]): readonly Sample[] {
  const sums = new Map<string, Sample>();
  for (const { values } of families) {
    for (const sample of values) {
      const key = `${sample.metricName} ${JSON.stringify(sample.labels)}`;
      const other = sums.get(key);
      const exemplar = other?.exemplar ?? sample.exemplar;
      const value = (other?.value ?? 0) + sample.value;
      sums.set(key, { ...sample, value, ...(exemplar && { exemplar }) });
    }
  }
  return [...sums.values()];
}
