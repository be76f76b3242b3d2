import { statusOf } from './server-api.ts';

/**
 * Which of several servers a node speaks to: all that it asks goes to the same one, until that one
 * fails. Shared by everything of a node that asks servers.
 *
 * Invariants
 *  C1. A call tries each server once at most, the current one first.
 *  C2. Only a call that saw the current server fail and got its answer from another one moves the
 *      choice; so an answer that all servers give alike moves nothing.
 *  C3. What waits for the head of an answer of a server that was left is told so, and asks the new
 *      one: a server that is silently gone does not hold up what others have found out already.
 */
export class ServerChoice {
  readonly addresses: readonly string[];
  #current = 0;
  #left: readonly AbortController[];

  /** @param addresses at least one: `http://host:port` or `https://host:port` */
  constructor(addresses: readonly string[]) {
    this.addresses = addresses;
    this.#left = addresses.map(() => new AbortController());
  }

  get current(): string {
    return this.addresses[this.#current]!;
  }

  /**
   * Gives what the first server gives that neither is out of reach nor answers 5xx. `left` aborts
   * when the choice moves away from that server. Rejects as the last one did, or with what a server
   * refused (an error with a status below 500).
   */
  async call<T>(
    ask: (address: string, left: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const tried = new Set<number>();
    let failure: unknown;
    for (let at = this.#next(tried); at !== undefined; at = this.#next(tried)) {
      signal?.throwIfAborted();
      tried.add(at);
      try {
        const answer = await ask(this.addresses[at]!, this.#left[at]!.signal);
        if (tried.has(this.#current)) this.#moveTo(at);
        return answer;
      } catch (error) {
        if (signal?.aborted || isRefusal(error)) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  #next(tried: ReadonlySet<number>): number | undefined {
    const { length } = this.addresses;
    const inTurn = this.addresses.map((_, step) => (this.#current + step) % length);
    return inTurn.find((at) => !tried.has(at));
  }

  #moveTo(at: number): void {
    const former = this.#current;
    if (at === former) return;
    this.#current = at;
    const left = this.#left[former]!;
    this.#left = this.#left.with(former, new AbortController());
    left.abort(new Error(`${this.addresses[former]} does not answer, and another server does`));
  }
}

const isRefusal = (error: unknown): boolean => {
  const status = statusOf(error);
  return status !== 0 && status < 500;
};
