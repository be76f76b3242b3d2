/** What is waiting, or under way. */
interface Entry {
  readonly group: string;
  readonly start: () => void;
}

/**
 * Lets so many through at the same time, and so many of one group, the others in their order.
 *
 * Invariants
 *  G1. No more than `max` are inside, and no more than `maxOfGroup` of any group.
 *  G2. Who waits goes in as soon as both allow it; a full group holds up nobody of another one.
 */
export class Gate {
  readonly #max: number;
  readonly #maxOfGroup: number;
  readonly #waiting = new Set<Entry>();
  readonly #inside = new Map<string, number>();
  #count = 0;

  constructor(max: number, maxOfGroup: number) {
    this.#max = max;
    this.#maxOfGroup = maxOfGroup;
  }

  /** Runs it once there is room; `undefined` when the signal comes first. */
  async through<T>(
    group: string,
    signal: AbortSignal,
    run: () => Promise<T>,
  ): Promise<T | undefined> {
    if (!(await this.#enter(group, signal))) return undefined;
    try {
      return await run();
    } finally {
      this.#leave(group);
    }
  }

  #enter(group: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#hasRoom(group)) {
      this.#take(group);
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const abort = (): void => {
        this.#waiting.delete(entry);
        resolve(false);
      };
      const entry: Entry = {
        group,
        start: () => {
          signal.removeEventListener('abort', abort);
          resolve(true);
        },
      };
      this.#waiting.add(entry);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  #hasRoom(group: string): boolean {
    return this.#count < this.#max && (this.#inside.get(group) ?? 0) < this.#maxOfGroup;
  }

  #take(group: string): void {
    this.#count++;
    this.#inside.set(group, (this.#inside.get(group) ?? 0) + 1);
  }

  #leave(group: string): void {
    this.#count--;
    const left = this.#inside.get(group)! - 1;
    if (left === 0) this.#inside.delete(group);
    else this.#inside.set(group, left);
    for (const entry of this.#waiting) {
      if (!this.#hasRoom(entry.group)) continue;
      this.#waiting.delete(entry);
      this.#take(entry.group);
      entry.start();
      return;
    }
  }
}
