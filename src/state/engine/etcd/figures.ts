import type { Clock } from '../../../base/ports.ts';
import { Diverged, OutcomeUnknown } from '../../errors.ts';
import type { AppendFigures, LogHealth } from '../../log-health.ts';
import type { LogHead } from './head.ts';

/** Counts and times of a process, for metrics. */
export class Figures {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #heardMs: number | undefined;
  #term = 0;
  /** Why the engine cannot go on. */
  fault: Error | undefined;
  #appends: AppendFigures = { count: 0, totalMs: 0, unknown: 0 };

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  get health(): Omit<LogHealth, 'leaseAgeMs' | 'store'> {
    const { fault } = this;
    const contactMs =
      this.#heardMs === undefined ? undefined : this.#clock.monotonicMs() - this.#heardMs;
    const isDiverged = fault instanceof Diverged;
    return { term: this.#term, contactMs, fault, isDiverged, appends: this.#appends };
  }

  /** The head was read linearizably. */
  looked(head: LogHead | undefined): void {
    this.#heardMs = this.#clock.monotonicMs();
    this.#term = head?.epoch ?? 0;
  }

  /** Counts the append. */
  async append<T>(sent: Promise<T>): Promise<T> {
    const startMs = this.#clock.monotonicMs();
    let unknown = 0;
    try {
      const appended = await sent;
      this.#heardMs = this.#clock.monotonicMs();
      return appended;
    } catch (error) {
      if (error instanceof OutcomeUnknown) unknown = 1;
      throw error;
    } finally {
      const before = this.#appends;
      this.#appends = {
        count: before.count + 1,
        totalMs: before.totalMs + this.#clock.monotonicMs() - startMs,
        unknown: before.unknown + unknown,
      };
    }
  }
}
