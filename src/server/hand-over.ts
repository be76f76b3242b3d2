import type { Clock, Timers } from '../base/ports.ts';
import { refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { Listeners } from '../state/listeners.ts';
import type { State } from '../state/types.ts';
import { type Member, newsOfLeader, type Servers } from './servers.ts';

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
  readonly #writeEnded = new Listeners<[]>();
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
      this.#writeEnded.tell();
    };
  }

  /** @throws RosterError `not-leader`, `no-other-server` */
  requireOther(): void {
    const { servers, leads } = this.#options;
    if (!leads()) throw refusal('not-leader');
    if (servers.members().every(({ id }) => id === servers.id || this.#isLost(id))) {
      throw refusal('no-other-server');
    }
  }

  /**
   * Lets another server lead. Resolves with that server; `undefined`: none leads yet.
   * @param own the number of running writes that wait for this call
   * @param isForGood this server ends, and does not lead again if the others do not either
   * @throws RosterError `not-leader`, `no-other-server`
   */
  async run(own: number, isForGood = false): Promise<Member | undefined> {
    const { state, servers } = this.#options;
    this.requireOther();
    this.#isUnderWay = true;
    try {
      await this.#drain(own);
      await state.stepDown(isForGood, this.#successor());
    } finally {
      this.#isUnderWay = false;
    }
    const other = () => {
      const leader = servers.leader();
      return leader?.id === servers.id ? undefined : leader;
    };
    const { clock, timers } = this.#options.world;
    const endMs = clock.monotonicMs() + limits.servers.holdMs;
    while (other() === undefined && clock.monotonicMs() < endMs)
      await newsOfLeader(servers, timers);
    return other();
  }

  /** Resolves when no other writes than these run, or after `drainMs`. */
  #drain(own: number): Promise<void> {
    if (this.#writes <= own) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        late.clear();
        leave();
        resolve();
      };
      const late = this.#options.world.timers.after(limits.servers.drainMs, end);
      const leave = this.#writeEnded.add(() => this.#writes <= own && end());
    });
  }

  /** The server that has the least to catch up with. */
  #successor(): string | undefined {
    const { servers } = this.#options;
    const others = servers.members().filter(({ id }) => id !== servers.id);
    const reports = others.flatMap(({ id }) => servers.reportOf(id) ?? []);
    const candidates = reports.filter(({ candidate }) => candidate !== undefined);
    return candidates.sort((left, right) => right.index - left.index)[0]?.candidate;
  }

  #isLost(id: string): boolean {
    return this.#options.servers.reportOf(id) === undefined;
  }
}
