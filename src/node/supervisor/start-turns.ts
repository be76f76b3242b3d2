import { startLimits } from './limits.ts';

/**
 * Spreads starts over turns of the event loop. Between turns come the answers about earlier starts, and the output
 * of tasks.
 */
export class StartTurns {
  #waiting: (() => void)[] = [];

  /** Resolves when the caller may start a process. */
  turn(): Promise<void> {
    if (this.#waiting.length === 0) setImmediate(() => this.#letStart());
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #letStart(): void {
    for (const go of this.#waiting.splice(0, startLimits.perTurn)) go();
    if (this.#waiting.length > 0) setImmediate(() => this.#letStart());
  }
}
