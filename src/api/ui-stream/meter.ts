import type { Processor } from '../../base/ports.ts';

/** Adds up the processor time of work that is done in parts, without the work of others in between. */
export class Meter {
  readonly #processor: Processor;
  #isRunning = false;
  usedMs = 0;

  constructor(processor: Processor) {
    this.#processor = processor;
  }

  /** Does the work. Work within measured work counts once. */
  measure<T>(work: () => T): T {
    if (this.#isRunning) return work();
    const beganMs = this.#processor.usedMs();
    this.#isRunning = true;
    try {
      return work();
    } finally {
      this.#isRunning = false;
      this.usedMs += this.#processor.usedMs() - beganMs;
    }
  }
}
