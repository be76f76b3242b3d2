import { durationMs, nanosecondsPerMillisecond } from '../../base/duration.ts';
import type { Clock, Timer, Timers } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';

export interface RunDeadlineOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  /** The time is over. Called once. */
  readonly onPassed: () => void;
}

/**
 * When an allocation has run for its `MaxRunDuration`. The time is counted from its creation, so
 * that it goes on while the agent is away; the clock is looked at again and again, as it may jump.
 * Source: docs/behaviour/client.md#the-end-of-an-allocation.
 */
export class RunDeadline {
  readonly #options: RunDeadlineOptions;
  #timer: Timer | undefined;
  #isOver = false;

  constructor(options: RunDeadlineOptions) {
    this.#options = options;
  }

  /** `createTime` is Unix nanoseconds, `maximum` nanoseconds; null is none. Replaces an earlier one. */
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
