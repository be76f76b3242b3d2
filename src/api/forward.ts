import type { Timers } from '../base/ports.ts';
import { RosterError, refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { ServerGone, type Servers } from '../server/servers.ts';
import { NotLeading } from '../state/errors.ts';
import type { Answer, Request } from './http.ts';
import { parseQuery } from './query.ts';
import type { Route } from './route.ts';
import type { Trail } from './trail.ts';

export interface ForwardOptions {
  readonly servers: Servers;
  readonly timers: Timers;
  /** Whether this server leads and takes writes. */
  readonly leads: () => boolean;
  /** Resolves when reads of this server are exact; `undefined` where they always are. */
  readonly exact: () => Promise<void> | undefined;
}

interface Asking {
  readonly route: Pick<Route, 'endpoint' | 'run' | 'query'>;
  readonly request: Request;
  readonly trail: Trail;
  /** Another server has handed it on already. */
  readonly isAsked: boolean;
}

/**
 * Where a request runs.
 *
 * Invariants
 *  F1. A write runs on the leader, which decides on its own view who may do it. It is handed on once,
 *      and never repeated: where nobody knows whether it ran, that is the answer.
 *  F2. A read is answered here, exactly: when this server shows all that was durable when it came.
 *      With `stale` it is answered at once, as long as this server has had contact not long ago.
 *  F3. What only the leader knows says `not-leader` here, before anything is done; then the leader is
 *      asked.
 */
export class Forwarding {
  readonly #options: ForwardOptions;

  constructor(options: ForwardOptions) {
    this.#options = options;
  }

  /** Runs it with `here`, or has the leader answer it. */
  run(asking: Asking, here: () => Answer | Promise<Answer>): Answer | Promise<Answer> {
    const { route } = asking;
    const { leads, exact } = this.#options;
    if (route.endpoint.isOfServer) return here();
    if (route.run.kind === 'write') return leads() ? here() : this.#toLeader(asking);
    const isRead = route.run.kind === 'read' || route.run.kind === 'list';
    const ready = isRead && this.#isStale(asking) ? undefined : exact();
    const elsewhere = (thrown: unknown) => {
      if (!isLeaderWanted(thrown) || leads()) throw thrown;
      return this.#toLeader(asking);
    };
    if (ready !== undefined) return ready.then(here).catch(elsewhere);
    try {
      const answer = here();
      return answer instanceof Promise ? answer.catch(elsewhere) : answer;
    } catch (thrown) {
      return elsewhere(thrown);
    }
  }

  /** @throws RosterError `no-leader` after too long without contact */
  #isStale({ route: { query }, request }: Asking): boolean {
    if (!request.query.includes('stale')) return false;
    const { stale } = parseQuery(query, request.query).values as { readonly stale?: boolean };
    if (stale !== true) return false;
    if (this.#options.servers.lastContactMs() > limits.servers.staleMaxMs)
      throw refusal('no-leader');
    return true;
  }

  async #toLeader({ request, trail, isAsked }: Asking): Promise<Answer> {
    if (isAsked) throw refusal('not-leader');
    const { servers } = this.#options;
    const leader = servers.leader();
    if (leader === undefined || leader.id === servers.id) throw refusal('no-leader');
    trail.forwardedTo = leader.id;
    const gone = new AbortController();
    const stay = request.onGone?.(() => gone.abort());
    const { method, path, query, headers, body, remoteAddress } = request;
    try {
      const asked = { method, path, query, headers, body, remoteAddress };
      const patience = { deadlineMs: limits.servers.askMs + waitMsOf(query), gone: gone.signal };
      const answer = await servers.ask(leader.id, asked, patience);
      if (method !== 'GET' && method !== 'HEAD') await this.#caughtUp();
      return answer;
    } catch (error) {
      if (!(error instanceof ServerGone)) throw error;
      throw refusal(error.wasSent && method !== 'GET' ? 'outcome-unknown' : 'no-leader');
    } finally {
      stay?.();
    }
  }

  /** Whoever wrote through this server finds it here, at `stale` too, unless that takes too long. */
  async #caughtUp(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = this.#options.timers.after(limits.servers.catchUpMs, () => late.resolve());
    const exact = this.#options.exact()?.catch(() => {});
    await Promise.race([exact, late.promise]);
    timer.clear();
  }
}

const isLeaderWanted = (thrown: unknown): boolean =>
  thrown instanceof NotLeading || (thrown instanceof RosterError && thrown.code === 'not-leader');

/** The longest that a request with this query may wait by itself. */
const waitMsOf = (query: string): number =>
  /(?:^|&)(?:wait|index)=/.test(query)
    ? limits.watch.waitMaxMs * (1 + 1 / limits.watch.jitterDivisor)
    : 0;
