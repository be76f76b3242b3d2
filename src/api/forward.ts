import type { Timers } from '../base/ports.ts';
import { queryOf } from '../contract/shared-query.ts';
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
  readonly route: Pick<Route, 'endpoint' | 'run'>;
  readonly request: Request;
  readonly trail: Trail;
  /** Whether another server has handed the request on. */
  readonly isAsked: boolean;
}

/**
 * Where a request runs.
 *
 * Invariants
 *  F1. A write runs on the leader, which checks permissions on its own view. It is handed on once and
 *      never repeated. If nobody knows whether it ran, the answer says so.
 *  F2. A read is answered by this server once its state shows all that was durable when the read came.
 *      With `stale` it is answered at once, unless the last contact was too long ago.
 *  F3. A handler that needs the leader's memory throws `not-leader` before it does anything. Then the
 *      leader is asked.
 */
export class Forwarding {
  readonly #options: ForwardOptions;

  constructor(options: ForwardOptions) {
    this.#options = options;
  }

  /** Runs the request with `here`, or has the leader answer it. */
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

  /** Resolves when reads of this server are exact; `undefined` where they always are. */
  ready(): Promise<void> | undefined {
    return this.#options.exact();
  }

  /** @throws RosterError `no-leader` after too long without contact */
  requireContact(): void {
    if (this.#options.servers.lastContactMs() > limits.servers.staleMaxMs)
      throw refusal('no-leader');
  }

  /** @throws RosterError `no-leader` after too long without contact */
  #isStale({ route, request }: Asking): boolean {
    if (!request.query.includes('stale')) return false;
    const { stale } = parseQuery(queryOf(route.endpoint), request.query).values as {
      readonly stale?: boolean;
    };
    if (stale !== true) return false;
    this.requireContact();
    return true;
  }

  async #toLeader({ request, trail, isAsked }: Asking): Promise<Answer> {
    // A body that is not read cannot be handed on.
    if (isAsked || request.unread !== undefined) throw refusal('not-leader');
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
      // A stream lasts as long as its reader does.
      if (!isStream(answer)) stay?.();
      return answer;
    } catch (error) {
      stay?.();
      if (!(error instanceof ServerGone)) throw error;
      throw refusal(error.wasSent && method !== 'GET' ? 'outcome-unknown' : 'no-leader');
    }
  }

  /** Waits until this server shows the write, so that its client reads it even with `stale`. */
  async #caughtUp(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = this.#options.timers.after(limits.servers.catchUpMs, () => late.resolve());
    const exact = this.#options.exact()?.catch(() => {});
    await Promise.race([exact, late.promise]);
    timer.clear();
  }
}

const isStream = ({ body }: Answer): boolean =>
  typeof body === 'object' && !(body instanceof Uint8Array);

const isLeaderWanted = (thrown: unknown): boolean =>
  thrown instanceof NotLeading || (thrown instanceof RosterError && thrown.code === 'not-leader');

/** The longest time that a request with this query may block. */
const waitMsOf = (query: string): number =>
  /(?:^|&)(?:wait|index)=/.test(query)
    ? limits.watch.waitMaxMs * (1 + 1 / limits.watch.jitterDivisor)
    : 0;
