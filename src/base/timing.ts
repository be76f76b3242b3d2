import { Histogram } from './histogram.ts';
import type { Clock } from './ports.ts';

/** Measures work for metrics. Without a clock it measures nothing: the simulator's takes time at each reading. */
export class Timing {
  readonly seconds: Histogram;
  readonly #clock: Pick<Clock, 'monotonicMs'> | undefined;

  /** The upper bounds of the buckets are in seconds. */
  constructor(bounds: readonly number[], clock: Pick<Clock, 'monotonicMs'> | undefined) {
    this.seconds = new Histogram(bounds);
    this.#clock = clock;
  }

  /** The time at which work begins, for `end`. */
  begin(): number | undefined {
    return this.#clock?.monotonicMs();
  }

  /** Milliseconds since the work began; `undefined`: there is none, or nothing is measured. */
  sinceMs(beganMs: number | undefined): number | undefined {
    return beganMs === undefined ? undefined : this.#clock!.monotonicMs() - beganMs;
  }

  /** The work that began then is done. */
  end(beganMs: number | undefined): void {
    if (beganMs === undefined) return;
    this.seconds.observe((this.#clock!.monotonicMs() - beganMs) / 1000);
  }
}
