import { durationMs, nanosecondsPerMillisecond } from '../../base/duration.ts';
import type { Clock, Timer, Timers } from '../../base/ports.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { limits } from '../../model/limits.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import type { ServerContact } from '../server-contact.ts';

export interface DeadlinesOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly contact: Pick<ServerContact, 'leftMs' | 'keep'> | undefined;
  /** It has run for its `MaxRunDuration`. Called once. */
  readonly onExpired: () => void;
  /** No server has heard of the node for its `StopOnClientAfter`. Called once. */
  readonly onCutOff: () => void;
}

/**
 * When an allocation has to end by itself. `MaxRunDuration` is counted from its creation, so that it
 * goes on while the agent is away, `StopOnClientAfter` from the last contact with a server.
 * Source: docs/behaviour/client.md#the-end-of-an-allocation, #without-servers.
 */
export class Deadlines {
  readonly #options: DeadlinesOptions;
  readonly #run: Deadline;
  readonly #contact: Deadline;

  constructor(options: DeadlinesOptions) {
    this.#options = options;
    const { timers, onExpired, onCutOff } = options;
    this.#run = new Deadline(timers, onExpired);
    this.#contact = new Deadline(timers, onCutOff);
  }

  /** Replaces an earlier one. */
  setRun({ CreateTime }: Pick<Allocation, 'CreateTime'>, group: TaskGroup | undefined): void {
    const maximum = group?.MaxRunDuration ?? null;
    const { clock } = this.#options;
    this.#run.set(
      maximum === null
        ? undefined
        : () => CreateTime / nanosecondsPerMillisecond + durationMs(maximum) - clock.nowMs(),
    );
  }

  /** Replaces an earlier one. */
  setContact(group: TaskGroup | undefined): void {
    const grace = group?.Disconnect?.StopOnClientAfter ?? null;
    const { contact } = this.#options;
    if (grace === null || contact === undefined) {
      this.#contact.set(undefined);
      return;
    }
    contact.keep();
    this.#contact.set(() => contact.leftMs(durationMs(grace)));
  }

  close(): void {
    this.#run.close();
    this.#contact.close();
  }
}

/** Looks again and again how much time is left, as clocks may jump and deadlines move. */
class Deadline {
  readonly #timers: Timers;
  readonly #onPassed: () => void;
  #timer: Timer | undefined;
  #isOver = false;

  constructor(timers: Timers, onPassed: () => void) {
    this.#timers = timers;
    this.#onPassed = onPassed;
  }

  set(leftMs: (() => number) | undefined): void {
    this.#timer?.clear();
    if (this.#isOver || leftMs === undefined) return;
    const waitMs = Math.min(leftMs(), limits.node.runDeadlineRecheckMs);
    if (waitMs > 0) {
      this.#timer = this.#timers.after(waitMs, () => this.set(leftMs));
      return;
    }
    this.#isOver = true;
    this.#onPassed();
  }

  close(): void {
    this.#isOver = true;
    this.#timer?.clear();
  }
}
