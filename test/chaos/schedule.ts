/** Strikes with faults drawn from a seed, several at a time, until it is ended. */
import type { Choices } from '../support/random.ts';
import { faultKinds, type Site, type Strike } from './faults.ts';

export interface ScheduleOptions {
  readonly site: Site;
  /** Names of the kinds that strike. */
  readonly kinds: readonly string[];
  readonly note: (sentence: string) => void;
}

/** The number of faults at the same time. */
const lanes = 3;
const pauseMostMs = 4000;

export class Schedule {
  /** Number of faults by kind. */
  readonly counts = new Map<string, number>();
  readonly #options: ScheduleOptions;
  readonly #struck = new Set<string>();
  readonly #lanes: Promise<unknown>;
  #bag: string[] = [];
  #isOver = false;
  #wake: () => void = () => {};
  readonly #over: Promise<void>;

  constructor(options: ScheduleOptions) {
    this.#options = options;
    this.#over = new Promise((resolve) => {
      this.#wake = resolve;
    });
    this.#lanes = Promise.all(Array.from({ length: lanes }, () => this.#strikeOn()));
  }

  /** Resolves when every fault has ended. */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#wake();
    await this.#lanes;
  }

  /** Whether such a fault strikes now. */
  get strikes(): ReadonlySet<string> {
    return this.#kindsNow;
  }
  readonly #kindsNow = new Set<string>();

  async #strikeOn(): Promise<void> {
    const { choices } = this.#options.site;
    while (!this.#isOver) {
      await this.#pauseFor(choices.below(pauseMostMs));
      const kind = this.#nextKind();
      const strike = await faultKinds[kind]!(this.#options.site);
      if (this.#isOver || strike === undefined) continue;
      if (strike.parts.some((part) => this.#struck.has(part))) {
        this.#bag.push(kind);
        continue;
      }
      await this.#strikeOnce(kind, strike);
    }
  }

  async #strikeOnce(kind: string, strike: Strike): Promise<void> {
    const { site, note } = this.#options;
    const { at, parts, begin, end, shortestMs, longestMs } = strike;
    const lastsMs = shortestMs + site.choices.below(longestMs - shortestMs);
    for (const part of parts) this.#struck.add(part);
    this.#kindsNow.add(kind);
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    note(`begins: ${kind} (${at})`);
    await begin();
    await this.#pauseFor(lastsMs);
    await end();
    note(`ends:   ${kind} (${at})`);
    this.#kindsNow.delete(kind);
    for (const part of parts) this.#struck.delete(part);
  }

  /** Every kind comes once before any comes again. */
  #nextKind(): string {
    const { site, kinds } = this.#options;
    if (this.#bag.length === 0) this.#bag = shuffled(kinds, site.choices);
    return this.#bag.shift()!;
  }

  #pauseFor(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    return Promise.race([promise, this.#over]).finally(() => clearTimeout(timer));
  }
}

export function shuffled<T>(items: readonly T[], { below }: Choices): T[] {
  const left = [...items];
  return items.map(() => left.splice(below(left.length), 1)[0]!);
}
