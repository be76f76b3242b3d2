import { statusOf } from './server-api.ts';

/**
 * The server that a node speaks to, of several: all its requests go to the same server until that
 * server fails. All parts of a node share one choice.
 *
 * Invariants
 *  C1. A call tries each server at most once, the current server first.
 *  C2. The choice moves only when a call fails at the current server and succeeds at another; an
 *      error that all servers give moves nothing.
 *  C3. When the choice moves, requests that still wait for the head of the old server's answer are
 *      sent to the new server: a silently dead server delays nobody once a single call has noticed
 *      it.
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
   * Resolves with the answer of the first server that is reachable and does not answer 5xx. `left`
   * aborts when the choice moves away from that server. Rejects with the last server's error, or
   * with a refusal (an error with a status below 500).
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
