import type { Timer, Timers } from '../base/ports.ts';
import type { StateLimits } from './limits.ts';

type LingerLimits = Pick<StateLimits, 'lingerMs' | 'lingerPaceMs'>;

/**
 * The wait of transactions that nobody waits for. Alone, each of them would take an append of its own, and the next
 * writer would wait behind it.
 *
 * Invariants
 *  L1. A transaction waits for `lingerMs` at most, and only while writes that somebody waits for follow each
 *      other within `lingerPaceMs`: so nothing waits alone.
 */
export class Linger {
  readonly #timers: Timers;
  readonly #limits: LingerLimits;
  readonly #over: () => void;
  #wait: Timer | undefined;
  #pace: Timer | undefined;
  /** Writes that somebody waits for, in this period of the pace and in the one before. */
  #writes = 0;
  #writesBefore = 0;

  /** `over` is called when a transaction has waited for long enough. */
  constructor(timers: Timers, limits: LingerLimits, over: () => void) {
    this.#timers = timers;
    this.#limits = limits;
    this.#over = over;
  }

  /** Notes a write that somebody waits for. */
  noteWrite(): void {
    if (this.#limits.lingerMs === 0) return;
    this.#writes++;
    this.#pace ??= this.#timers.after(this.#limits.lingerPaceMs, () => this.#turnPace());
  }

  /** Whether writes that somebody waits for follow each other closely. */
  get isPaced(): boolean {
    return this.#writes + this.#writesBefore > 1;
  }

  /** Begins the wait of a transaction. Returns `false` where it must not wait. */
  begin(): boolean {
    if (this.#wait !== undefined) return true;
    if (!this.isPaced) return false;
    this.#wait = this.#timers.after(this.#limits.lingerMs, () => {
      this.#wait = undefined;
      this.#over();
    });
    return true;
  }

  /** Ends the wait, as the transactions go. */
  end(): void {
    this.#wait?.clear();
    this.#wait = undefined;
  }

  stop(): void {
    this.end();
    this.#pace?.clear();
    this.#pace = undefined;
  }

  #turnPace(): void {
    this.#pace = undefined;
    this.#writesBefore = this.#writes;
    this.#writes = 0;
    if (this.#writesBefore > 0) {
      this.#pace = this.#timers.after(this.#limits.lingerPaceMs, () => this.#turnPace());
    }
  }
}
