import type { Clock, Timers } from '../base/ports.ts';
import { delay } from '../base/ports.ts';
import { refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { State } from '../state/types.ts';
import type { Member, Servers } from './servers.ts';

export interface HandOverOptions {
  readonly state: Pick<State, 'stepDown'>;
  readonly servers: Servers;
  readonly world: { readonly clock: Clock; readonly timers: Timers };
  /** Whether this server leads. */
  readonly leads: () => boolean;
}

/**
 * The planned end of a term, in which no request fails.
 *
 * Invariants
 *  H1. From its beginning on this server runs no further write. They wait until another server leads.
 *  H2. The term ends when the writes that run have ended, or after `drainMs`.
 */
export class HandOver {
  readonly #options: HandOverOptions;
  #writes = 0;
  #isUnderWay = false;

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  /** Whether writes may run here. */
  get takesWrites(): boolean {
    return !this.#isUnderWay && this.#options.leads();
  }

  /** A write begins to run here. Returns the function that tells its end. */
  beginWrite(): () => void {
    this.#writes++;
    return () => {
      this.#writes--;
    };
  }

  /**
   * Lets another server lead. Resolves with that server; `undefined`: none leads yet.
   * @param own the number of running writes that wait for this call
   * @param isForGood this server ends, and does not lead again if the others do not either
   * @throws RosterError `not-leader`, `no-other-server`
   */
  async run(own: number, isForGood = false): Promise<Member | undefined> {
    const { state, servers, leads } = this.#options;
    if (!leads()) throw refusal('not-leader');
    if (servers.members().every(({ id }) => id === servers.id || this.#isLost(id))) {
      throw refusal('no-other-server');
    }
    this.#isUnderWay = true;
    try {
      await this.#waitUntil(() => this.#writes <= own, limits.servers.drainMs);
      await state.stepDown(isForGood);
    } finally {
      this.#isUnderWay = false;
    }
    const other = () => {
      const leader = servers.leader();
      return leader?.id === servers.id ? undefined : leader;
    };
    await this.#waitUntil(() => other() !== undefined, limits.servers.holdMs);
    return other();
  }

  #isLost(id: string): boolean {
    return this.#options.servers.reportOf(id) === undefined;
  }

  async #waitUntil(condition: () => boolean, withinMs: number): Promise<void> {
    const { clock, timers } = this.#options.world;
    const endMs = clock.monotonicMs() + withinMs;
    while (!condition() && clock.monotonicMs() < endMs) await delay(timers, limits.servers.lookMs);
  }
}
