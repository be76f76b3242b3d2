import { delay, type Random, type Timers } from '../base/ports.ts';

/** Growing pauses with jitter between tries; `reset` after a success. */
export class Backoff {
  readonly #options: BackoffOptions;
  #nextMs: number;

  constructor(options: BackoffOptions) {
    this.#options = options;
    this.#nextMs = this.#minMs;
  }

  /**
   * Waits from half of the pause up to all of it, then doubles it. A busy server that asks for a pause (`leastMs`) gets that
   * pause, and up to as much again, so that its clients do not all come back when it is over.
   */
  async wait(signal: AbortSignal, leastMs = 0): Promise<void> {
    const { timers, random, maxMs } = this.#options;
    const part = random.fraction();
    const pauseMs = Math.max(this.#nextMs * (0.5 + part / 2), leastMs * (1 + part));
    this.#nextMs = Math.min(this.#nextMs * 2, maxMs);
    await delay(timers, pauseMs, signal);
  }

  reset(): void {
    this.#nextMs = this.#minMs;
  }

  get #minMs(): number {
    const { minMs } = this.#options;
    return typeof minMs === 'number' ? minMs : minMs();
  }
}

export interface BackoffOptions {
  /** The first pause; a function is asked again after each success. */
  readonly minMs: number | (() => number);
  readonly maxMs: number;
  readonly timers: Timers;
  readonly random: Random;
}
