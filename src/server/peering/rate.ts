import type { Clock } from '../../base/ports.ts';

/** Allows a burst, and then a fixed amount in each second. */
export class Rate {
  readonly #clock: Clock;
  readonly #burst: number;
  readonly #perSecond: number;
  #left: number;
  #atMs: number;

  constructor(clock: Clock, burst: number, perSecond: number) {
    this.#clock = clock;
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#left = burst;
    this.#atMs = clock.monotonicMs();
  }

  /** `false`: too much. */
  take(amount: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    const refill = ((nowMs - this.#atMs) / 1000) * this.#perSecond;
    const left = Math.min(this.#burst, this.#left + refill) - amount;
    this.#left = Math.max(left, -this.#burst);
    this.#atMs = nowMs;
    return this.#left >= 0;
  }
}
