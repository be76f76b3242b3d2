import { durationMs } from '../base/duration.ts';
import { type Clock, delay, type Timers } from '../base/ports.ts';
import { consistency } from '../contract/shared-query.ts';
import { RosterError, refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { LedBefore } from '../server/idempotency/request-scope.ts';
import { type Member, newsOfLeader, ServerGone, type Servers } from '../server/servers.ts';
import { NotLeading } from '../state/errors.ts';
import { gone as nobodyReads } from './answers.ts';
import { type Answer, header, isBegun, piecesOf, type Request } from './http.ts';
import { parseQuery } from './query.ts';
import type { Route } from './route.ts';
import type { Trail } from './trail.ts';

export interface ForwardOptions {
  readonly servers: Servers;
  readonly timers: Timers;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Whether this server leads and takes writes. */
  readonly takesWrites: () => boolean;
  /** A write begins to run here. Returns the function that tells its end. */
  readonly beginWrite: () => () => void;
  /** Resolves when reads of this server are exact; `undefined` where they always are. */
  readonly exact: () => Promise<void> | undefined;
  /** The age of the state of this server. */
  readonly contactMs: () => number;
  /** The age of the state of this server from which on it answers no `stale` requests. */
  readonly staleMaxMs: number;
  /** Whether the leader answers questions about this server too, as the main thread does for a reader. */
  readonly isReader?: boolean | undefined;
}

interface Asking {
  readonly route: Pick<Route, 'endpoint' | 'run' | 'dialect'>;
  readonly request: Request;
  readonly trail: Trail;
  /** Whether another server has handed the request on. */
  readonly isAsked: boolean;
  /** Whether a leader has begun to run the request, which may have had an effect. No other leader runs it again. */
  readonly hasRun?: boolean;
  /** Answers where no leader is known; absent: the request waits for one. */
  readonly withoutLeader?: Run | undefined;
}

type Run = () => Answer | Promise<Answer>;

/**
 * Where a request runs.
 *
 * Invariants
 *  F1. A write runs on the leader, which checks permissions on its own view. It is handed on until a server
 *      has taken it, and never repeated after that. If nobody knows whether it ran, the answer says so. A write with a key
 *      is handed on after a leader has begun to run it, too; where nobody leads then, its outcome is unknown.
 *  F2. A read is answered by this server once its state shows all that was durable when the read came.
 *      With `stale` it is answered at once, unless the state of this server is too old. If it is older than
 *      `max_stale`, the read is answered as without `stale`.
 *  F3. A handler that needs the leader's memory throws `not-leader` before it does anything. Then the
 *      leader is asked.
 *  F4. While no server leads, a request waits up to `holdMs` for one, so that a change of the leader is no
 *      failure. A heartbeat does not wait: this server tells the node since when no server leads.
 *  F5. Before a server refuses a write for what its state shows, it makes sure that it still leads. Another server may
 *      lead without its knowledge, with a newer state: then the write is handed on to that server. For a write that changes
 *      nothing the state makes sure of it (`State.write`).
 *  F6. A write goes on when its caller is gone, as on the leader itself. Nothing else is asked for a caller that is gone.
 *  F7. A write that the leader has done is answered once this server shows it, so that its caller reads it even with
 *      `stale`. A server that cannot show it within `catchUpMs` answers all the same, and tells the age of its state.
 */
export class Forwarding {
  readonly #options: ForwardOptions;

  constructor(options: ForwardOptions) {
    this.#options = options;
  }

  /** Runs the request with `here`, or has the leader answer it. */
  run(asking: Asking, here: Run): Answer | Promise<Answer> {
    const { route } = asking;
    const { takesWrites, exact, isReader } = this.#options;
    if (route.endpoint.isOfServer) return isReader ? this.#handOn(asking, here) : here();
    if (route.run.kind === 'write') return this.#write(asking, here);
    const isRead = route.run.kind === 'read' || route.run.kind === 'list';
    const ready = isRead && this.#isStale(asking) ? undefined : exact();
    const elsewhere = (thrown: unknown) => {
      if (!isLeaderWanted(thrown) || takesWrites()) throw thrown;
      return this.#handOn(asking, here);
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

  /** @throws RosterError `no-leader` if the state of this server is too old */
  requireContact(): void {
    const { contactMs, staleMaxMs } = this.#options;
    if (contactMs() > staleMaxMs) throw refusal('no-leader');
  }

  /** @throws RosterError `no-leader` if the state of this server is too old */
  #isStale({ request }: Asking): boolean {
    if (!request.query.includes('stale')) return false;
    const { stale, max_stale: mostNs } = parseQuery(consistency, request.query).values;
    if (stale !== true) return false;
    const mostMs = mostNs === undefined ? Number.POSITIVE_INFINITY : durationMs(mostNs);
    if (this.#options.contactMs() > mostMs) return false;
    this.requireContact();
    return true;
  }

  #write(asking: Asking, here: Run, endMs?: number): Answer | Promise<Answer> {
    const { takesWrites, beginWrite } = this.#options;
    if (!takesWrites()) return this.#handOn(asking, here, endMs);
    const ended = beginWrite();
    const failed = (thrown: unknown) => {
      ended();
      const mayRepeat = !asking.isAsked && mayBeRepeated(asking.request, thrown);
      const hasRun = asking.hasRun === true || thrown instanceof LedBefore;
      if (mayRepeat) return this.#handOn({ ...asking, hasRun }, here, endMs);
      if (!restsOnState(thrown)) throw thrown;
      return this.#refuseIfLeading(thrown, asking, here, endMs);
    };
    try {
      const answer = here();
      if (!(answer instanceof Promise)) {
        ended();
        return answer;
      }
      const done = (made: Answer) => {
        ended();
        return made;
      };
      return answer.then(done, failed);
    } catch (thrown) {
      return failed(thrown);
    }
  }

  /** F5. */
  async #refuseIfLeading(
    thrown: unknown,
    asking: Asking,
    here: Run,
    endMs?: number,
  ): Promise<Answer> {
    const { exact, takesWrites } = this.#options;
    await exact();
    if (takesWrites()) throw thrown;
    return this.#handOn(asking, here, endMs);
  }

  /** Has the leader answer; here, if this server leads meanwhile. F4. */
  async #handOn(asking: Asking, here: Run, until?: number): Promise<Answer> {
    const { isAsked, request } = asking;
    if (isAsked) throw notTaken();
    const { servers, clock, timers, takesWrites } = this.#options;
    const isWaitUseful = servers.members().length > 1;
    const endMs = until ?? clock.monotonicMs() + limits.servers.holdMs;
    let { hasRun = false } = asking;
    for (;;) {
      // It cannot be read a second time.
      if (isBegun(request)) throw refusal('not-leader');
      const leader = servers.leader();
      const isElsewhere = leader !== undefined && leader.id !== servers.id;
      const answer = isElsewhere ? await this.#askLeader(leader, asking) : undefined;
      const fate = answer?.headers[repeatHeader];
      if (answer !== undefined && fate === undefined) return answer;
      if (fate === fates.begun) hasRun = true;
      if (asking.withoutLeader !== undefined) return asking.withoutLeader();
      if (!isWaitUseful || clock.monotonicMs() >= endMs) {
        throw refusal(hasRun ? 'outcome-unknown' : 'no-leader');
      }
      await newsOfLeader(servers, timers);
      if (takesWrites()) return this.#write({ ...asking, hasRun }, here, endMs);
    }
  }

  /** The answer of the leader, which may let the request be repeated; `undefined`: it has certainly not run it. */
  async #askLeader(leader: Member, asking: Asking): Promise<Answer | undefined> {
    const { request, trail } = asking;
    const { servers } = this.#options;
    trail.forwardedTo = leader.id;
    const gone = new AbortController();
    const stay = request.onGone?.(() => gone.abort());
    const { method, path, query, headers, body, remoteAddress } = request;
    const isRead = method === 'GET' || method === 'HEAD';
    const unread = request.unread && piecesOf(request);
    try {
      const asked = { method, path, query, headers, body, unread, remoteAddress };
      const deadlineMs =
        unread === undefined ? limits.servers.askMs + waitMsOf(query) : limits.snapshot.saveMaxMs;
      const patience = { deadlineMs, ...(isRead && { gone: gone.signal }) };
      const answer = await servers.ask(leader.id, asked, patience);
      if (answer.headers[repeatHeader] !== undefined) return answer;
      // A stream lasts as long as its reader does.
      if (!isStream(answer)) stay?.();
      return isRead ? answer : await this.#answerShown(answer, asking);
    } catch (error) {
      stay?.();
      if (!(error instanceof ServerGone)) throw error;
      if (gone.signal.aborted && isRead) return nobodyReads;
      if (error.wasSent && method !== 'GET') throw refusal('outcome-unknown');
      return undefined;
    }
  }

  /** The answer to a write, once this server shows it. F7. */
  async #answerShown(answer: Answer, { route, withoutLeader }: Asking): Promise<Answer> {
    // A refusal has written nothing.
    if (answer.status >= 400) return answer;
    const { catchUpMs, heartbeatCatchUpMs } = limits.servers;
    if (await this.#caughtUp(withoutLeader === undefined ? catchUpMs : heartbeatCatchUpMs))
      return answer;
    const { lastContact } = route.dialect.headers;
    const headers = { ...answer.headers, [lastContact]: String(this.#options.contactMs()) };
    return { ...answer, headers };
  }

  /** Waits until this server shows all that is durable now. Resolves with whether it does. */
  async #caughtUp(mostMs: number): Promise<boolean> {
    const { timers, exact } = this.#options;
    const late = Promise.withResolvers<false>();
    let isLate = false;
    const timer = timers.after(mostMs, () => {
      isLate = true;
      late.resolve(false);
    });
    const reached = async (): Promise<boolean> => {
      while (!isLate) {
        try {
          await exact();
          return true;
        } catch {
          await delay(timers, limits.servers.catchUpRetryMs);
        }
      }
      return false;
    };
    const isShown = await Promise.race([reached(), late.promise]);
    timer.clear();
    return isShown;
  }
}

const refusals = new WeakSet<object>();

/** The refusal of a request that another server has handed on to a server that does not lead. */
function notTaken(): Error {
  const made = refusal('not-leader');
  refusals.add(made);
  return made;
}

/** In the answer to another server: it may hand the request on again. Older servers know any value as `unbegun`. */
export const repeatHeader = 'x-roster-repeat';

const fates = { unbegun: 'true', begun: 'begun' } as const;

/** The value of the header for a request that may be repeated after this error. */
export const fateAfter = (thrown: unknown): string =>
  thrown instanceof LedBefore ? fates.begun : fates.unbegun;

/**
 * Whether the request may run again after this error: it has not run, or its key lets it have a single effect
 * (`server/idempotency/`).
 */
export const mayBeRepeated = (request: Request, thrown: unknown): boolean =>
  (thrown instanceof Error && refusals.has(thrown)) ||
  (isLeaderWanted(thrown) && header(request, 'idempotency-key') !== undefined);

/** Whether another state may have led to another answer. */
const restsOnState = (thrown: unknown): boolean =>
  thrown instanceof RosterError && thrown.status > 400 && thrown.status < 500;

const isStream = ({ body }: Answer): boolean =>
  typeof body === 'object' && !(body instanceof Uint8Array);

const isLeaderWanted = (thrown: unknown): boolean =>
  thrown instanceof NotLeading || (thrown instanceof RosterError && thrown.code === 'not-leader');

/** The longest time that a request with this query may block. */
const waitMsOf = (query: string): number =>
  /(?:^|&)(?:wait|index)=/.test(query)
    ? limits.watch.waitMaxMs * (1 + 1 / limits.watch.jitterDivisor)
    : 0;
