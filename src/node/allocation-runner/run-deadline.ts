import { durationMs, nanosecondsPerMillisecond } from '../../base/duration.ts';
import type { Clock, Timer, Timers } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';

export interface RunDeadlineOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Called once, when the time has passed. */
  readonly onPassed: () => void;
}

/**
 * The end of an allocation's `MaxRunDuration`. It counts from the creation, so time without an
 * agent counts too. The clock is read again from time to time, as it may jump.
 * Source: docs/behaviour/client.md#the-end-of-an-allocation.
 */
export class RunDeadline {
  readonly #options: RunDeadlineOptions;
  #timer: Timer | undefined;
  #isOver = false;

  constructor(options: RunDeadlineOptions) {
    this.#options = options;
  }

  /**
   * Replaces the deadline. `createTime` is in Unix nanoseconds, `maximum` in nanoseconds, or null
   * for none.
   */
  set(createTime: number, maximum: number | null): void {
    this.#timer?.clear();
    if (this.#isOver || maximum === null) return;
    const { clock, timers, onPassed } = this.#options;
    const leftMs = createTime / nanosecondsPerMillisecond + durationMs(maximum) - clock.nowMs();
    if (leftMs > 0) {
      const waitMs = Math.min(leftMs, limits.node.runDeadlineRecheckMs);
      this.#timer = timers.after(waitMs, () => this.set(createTime, maximum));
      return;
    }
    this.#isOver = true;
    onPassed();
  }

  close(): void {
    this.#isOver = true;
    this.#timer?.clear();
  }
}
