interface Entry {
  readonly group: string;
  readonly start: () => void;
}

/**
 * Bounds how many callers work at the same time, in total and for each group. The others wait in
 * order.
 *
 * Invariants
 *  G1. No more than `max` are inside, and no more than `maxOfGroup` of any group.
 *  G2. A caller enters as soon as both bounds allow it; a full group delays no caller of another
 *      group.
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

  /** Runs the work once there is room; `undefined` when the signal comes first. */
  async through<T>(
    group: string,
    signal: AbortSignal,
    run: () => Promise<T>,
  ): Promise<T | undefined> {
    if (!(await this.#enterGate(group, signal))) return undefined;
    try {
      return await run();
    } finally {
      this.#leaveGate(group);
    }
  }

  #enterGate(group: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#hasRoom(group)) {
      this.#takeRoom(group);
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

  #takeRoom(group: string): void {
    this.#count++;
    this.#inside.set(group, (this.#inside.get(group) ?? 0) + 1);
  }

  #leaveGate(group: string): void {
    this.#count--;
    const left = this.#inside.get(group)! - 1;
    if (left === 0) this.#inside.delete(group);
    else this.#inside.set(group, left);
    for (const entry of this.#waiting) {
      if (!this.#hasRoom(entry.group)) continue;
      this.#waiting.delete(entry);
      this.#takeRoom(entry.group);
      entry.start();
      return;
    }
  }
}
