import type { Clock } from '../../../base/ports.ts';
import { Diverged, OutcomeUnknown } from '../../errors.ts';
import type { AppendFigures, LogHealth } from '../../log-health.ts';
import type { LogHead } from './head.ts';

/** Counts and times of a process, for metrics. */
export class Figures {
  readonly #clock: Clock;
  #heardMs: number | undefined;
  /** When the log was last read, on the monotonic clock. */
  #readMs: number | undefined;
  /** When the state last had all that the log held. */
  #current: { readonly monotonicMs: number; readonly unixMs: number } | undefined;
  #hasLooked = false;
  #term = 0;
  /** Why the engine cannot go on. */
  fault: Error | undefined;
  /** Why the log cannot be reached at the moment. */
  obstacle: Error | undefined;
  #appends: AppendFigures = { count: 0, totalMs: 0, unknown: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get health(): Omit<LogHealth, 'leaseAgeMs' | 'isHeldBack' | 'store'> {
    const { fault, obstacle } = this;
    const contactMs =
      this.#heardMs === undefined ? undefined : this.#clock.monotonicMs() - this.#heardMs;
    const ageMs = this.#current && this.#clock.monotonicMs() - this.#current.monotonicMs;
    const isDiverged = fault instanceof Diverged;
    const isUnconfirmed = !this.#hasLooked;
    return {
      term: this.#term,
      contactMs,
      ageMs,
      isUnconfirmed,
      fault,
      obstacle,
      isDiverged,
      appends: this.#appends,
    };
  }

  /** When the state last had all that the log held, in Unix milliseconds; `undefined`: never yet. */
  get currentMs(): number | undefined {
    return this.#current?.unixMs;
  }

  /** Notes when the state had the whole log, on the monotonic clock. The default is the time of the last read. */
  current(monotonicMs = this.#readMs): void {
    this.#current =
      monotonicMs === undefined ? undefined : { monotonicMs, unixMs: this.#unixMs(monotonicMs) };
  }

  /** The process begins with a state that was current then, in Unix milliseconds. */
  beginAt(unixMs: number): void {
    const monotonicMs = this.#clock.monotonicMs() - (this.#clock.nowMs() - unixMs);
    this.#current = { monotonicMs, unixMs };
    this.#heardMs = monotonicMs;
  }

  #unixMs(monotonicMs: number): number {
    return this.#clock.nowMs() - (this.#clock.monotonicMs() - monotonicMs);
  }

  /**
   * The head was read linearizably. The answer may have waited for this process, so it tells of the time at which the read
   * was sent, on the monotonic clock. A head of a later term is no contact of a leader (`isOurs`), whose term is over.
   */
  looked(head: LogHead | undefined, sentMs: number, isOurs = true): void {
    this.#hasLooked = true;
    if (isOurs) this.#hear(sentMs);
    this.#readMs = sentMs;
    this.#term = head?.epoch ?? 0;
  }

  #hear(sentMs: number): void {
    this.#heardMs = Math.max(this.#heardMs ?? sentMs, sentMs);
  }

  /** Counts the append. */
  async append<T>(sent: Promise<T>): Promise<T> {
    const startMs = this.#clock.monotonicMs();
    let unknown = 0;
    try {
      const appended = await sent;
      this.#hear(startMs);
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
