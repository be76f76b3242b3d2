import { delay, type Random, type Timers } from '../base/ports.ts';

/** Growing pauses with jitter between tries; `reset` after a success. */
export class Backoff {
  readonly #options: BackoffOptions;
  #nextMs: number;

  constructor(options: BackoffOptions) {
    this.#options = options;
    this.#nextMs = options.minMs;
  }

  /** Waits from half of the pause up to all of it, then doubles it. */
  async wait(signal: AbortSignal): Promise<void> {
    const { timers, random, maxMs } = this.#options;
    const pauseMs = this.#nextMs * (0.5 + random.fraction() / 2);
    this.#nextMs = Math.min(this.#nextMs * 2, maxMs);
    await delay(timers, pauseMs, signal);
  }

  reset(): void {
    this.#nextMs = this.#options.minMs;
  }
}

export interface BackoffOptions {
  readonly minMs: number;
  readonly maxMs: number;
  readonly timers: Timers;
  readonly random: Random;
}
