import type { Authorizer, DefaultPolicy } from '../acl/authorizer.ts';
import type { World } from '../base/ports.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { queryOf } from '../contract/shared-query.ts';
import { type RosterError, refusal } from '../model/errors.ts';
import type { ExecSession } from '../model/exec-session/exec-session.ts';
import { limits } from '../model/limits.ts';
import type { Permission } from '../model/permission/permission.ts';
import type { KeptAnswers } from '../server/idempotency/kept-answers.ts';
import { knownRefusal, problemAnswer, replyAnswer, unroutedAnswer } from './answers.ts';
import type { Dialect, ForeignDialect } from './dialect/dialect.ts';
import { defaultDialect } from './dialect/dialects.ts';
import { type Forwarding, fateAfter, mayBeRepeated, repeatHeader } from './forward.ts';
import { type Answer, piecesOf, type Request, untilGone } from './http.ts';
import { isKnown, keyedRequest, requireNoKey } from './keyed-request.ts';
import { leaderlessRead } from './leaderless.ts';
import type { NamedServer } from './named-server.ts';
import { type Prepared, type PrepareOptions, prepareInput } from './prepare-input.ts';
import { type Reading, Reads, type ReadsOptions } from './reads.ts';
import type { Route } from './route.ts';
import { type Match, Router } from './router.ts';
import { noteReply, type Observation, type Seen, type Trail } from './trail.ts';

export type { Observation } from './trail.ts';

export interface PipelineOptions
  extends Omit<ReadsOptions, 'world' | 'onFailure' | 'requireContact'>,
    PrepareOptions {
  readonly routes: readonly Route[];
  /** Further dialects with their own paths. */
  readonly dialects?: readonly ForeignDialect[];
  readonly world: ReadsOptions['world'] & Pick<World, 'ids'>;
  /** Answers to repeated writes. */
  readonly keptAnswers: KeptAnswers;
  /** Why this server answers nothing; `undefined`: it answers. */
  readonly notReady: () => RosterError | undefined;
  /** Proves leadership for `consistent` reads. Throws `no-leader`. */
  readonly proveLeadership: () => Promise<void>;
  /** Where requests run; `undefined`: here, as there is no other server. */
  readonly forwarding: Forwarding | undefined;
  /** Requests for a server by its id; `undefined` in a reader, whose main thread answers them. */
  readonly named: NamedServer | undefined;
  readonly observe: (observation: Observation) => void;
  /** Sent with every answer of the registry; `undefined` when access control is off. */
  readonly defaultPolicy: DefaultPolicy | undefined;
}

/** An accepted WebSocket. */
export interface Socket {
  readonly session: ExecSession;
  /** Whether the caller still has the permission. Throws when its token is gone. */
  readonly isAllowed: () => boolean;
}

const switchingProtocols = 101;

/** A route with what it has found in the path. */
type Found = Match<Route & Prepared> & { readonly kind: 'route' };

/**
 * The steps that all routes share (docs/contract/http.md#the-order-of-the-checks).
 *
 * Invariants
 *  H1. The order of the checks is: path and method, token, parsing, permission, validity of the
 *      content, existence, guard. A caller without the permission learns nothing else.
 *  H2. Known errors become problems of the catalogue (`knownRefusal`). Any other exception is a bug; its
 *      details go to the log, not to the caller.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #router: Router<Route & Prepared>;
  readonly #reads: Reads;

  constructor(options: PipelineOptions) {
    this.#options = options;
    const { state, world, resolve, gate } = options;
    const onFailure = (seen: Seen, thrown: unknown) => void this.#answerError(seen, thrown);
    const requireContact = () => this.requireContact();
    this.#reads = new Reads({ state, world, resolve, gate, onFailure, requireContact });
    this.#router = new Router(
      options.routes.map((route) => ({ ...route, route, query: queryOf(route.endpoint) })),
    );
  }

  /** The number of waiting blocking queries. */
  get parked(): number {
    return this.#reads.parked;
  }

  /** Answers all blocking queries at once, now and later. */
  stop(): void {
    this.#reads.stop();
  }

  /** Most answers need no promise. */
  handle(request: Request): Answer | Promise<Answer> {
    return this.#handle(request, false);
  }

  /** Answers a request that another server has forwarded. It is not forwarded again. */
  answer(request: Request): Answer | Promise<Answer> {
    return this.#handle(request, true);
  }

  #handle(request: Request, isAsked: boolean): Answer | Promise<Answer> {
    const seen: Seen = {
      request,
      route: undefined,
      startMs: this.#options.world.clock.monotonicMs(),
      trail: {},
    };
    let outcome: Answer | Promise<Answer>;
    try {
      outcome = this.#route(request, seen, isAsked);
    } catch (thrown) {
      return this.#answerError(seen, thrown, isAsked);
    }
    if (!(outcome instanceof Promise)) return this.#observeAnswer(seen, outcome);
    return outcome.then(
      (answer) => this.#observeAnswer(seen, answer),
      (thrown) => this.#answerError(seen, thrown, isAsked),
    );
  }

  #route(request: Request, seen: Seen, isAsked: boolean): Answer | Promise<Answer> {
    this.#requireReady();
    const match = this.#match(request);
    if (match.kind !== 'route') return unroutedAnswer(match, request, this.dialectAt(request.path));
    const { route } = match.route;
    seen.route = route;
    const { forwarding, named } = this.#options;
    const elsewhere = named?.answer(route, request, seen.trail);
    if (elsewhere !== undefined) return elsewhere;
    if (forwarding === undefined) return this.#run(match, seen);
    return this.#runOrForward(forwarding, match, seen, isAsked);
  }

  #runOrForward(
    forwarding: Forwarding,
    found: Found,
    seen: Seen,
    isAsked: boolean,
  ): Answer | Promise<Answer> {
    const { request, trail } = seen;
    const { route } = found.route;
    const here = () => this.#run(found, seen);
    const refuse = (read: Route) =>
      this.#run({ ...found, route: { ...found.route, route: read } }, seen);
    const withoutLeader = leaderlessRead(route, refuse);
    return forwarding.run({ route, request, trail, isAsked, withoutLeader }, here);
  }

  /** @throws RosterError `not-ready` */
  #requireReady(): void {
    const notReady = this.#options.notReady();
    if (notReady !== undefined) throw notReady;
  }

  #match({ method, path, query }: Request) {
    if (path.length + query.length > limits.http.urlBytesMax) {
      throw refusal('url-too-long', { limit: limits.http.urlBytesMax });
    }
    return this.#router.match(method === 'HEAD' ? 'GET' : method, path);
  }

  #observeAnswer({ request, route, startMs, trail }: Seen, answer: Answer): Answer {
    const durationMs = this.#options.world.clock.monotonicMs() - startMs;
    this.#options.observe({ request, route, status: answer.status, durationMs, trail });
    return this.#withPolicy(route, answer);
  }

  /** The answer to an exception: a refusal, or a bug whose details are only in the log. */
  #answerError(seen: Seen, thrown: unknown, isAsked = false): Answer {
    const error = this.#refusalOf(seen, thrown);
    const answer = problemAnswer(error, this.#dialectOf(seen));
    const isFinal = !isAsked || !mayBeRepeated(seen.request, thrown);
    if (isFinal) return this.#withPolicy(seen.route, answer);
    return { ...answer, headers: { ...answer.headers, [repeatHeader]: fateAfter(thrown) } };
  }

  #withPolicy(route: Route | undefined, answer: Answer): Answer {
    const { defaultPolicy } = this.#options;
    const name = route?.dialect.headers.defaultPolicy;
    if (defaultPolicy === undefined || name === undefined) return answer;
    return { ...answer, headers: { ...answer.headers, [name]: defaultPolicy } };
  }

  /** The dialect of a request without a route. */
  dialectAt(path: string): Dialect {
    return this.#options.dialects?.find(({ owns }) => owns(path)) ?? defaultDialect;
  }

  #dialectOf({ route, request }: Seen): Dialect {
    return route?.dialect ?? this.dialectAt(request.path);
  }

  /** The error for the caller. The observation has been made. */
  #refusalOf(seen: Seen, thrown: unknown): RosterError {
    const known = knownRefusal(thrown);
    const { clock, ids } = this.#options.world;
    const { request, route, startMs, trail } = seen;
    const durationMs = clock.monotonicMs() - startMs;
    if (known !== undefined) {
      trail.code = known.code;
      const status = this.#dialectOf(seen).statusOf(known);
      this.#options.observe({ request, route, status, durationMs, trail });
      return known;
    }
    const requestId = ids.uuid();
    const told = refusal('internal-error', { request: requestId });
    const status = this.#dialectOf(seen).statusOf(told);
    const bug = { failure: thrown, requestId };
    this.#options.observe({ request, route, status, durationMs, trail, ...bug });
    return told;
  }

  /** The secret of a request without a route. */
  secretIn(request: Request): string | undefined {
    return this.dialectAt(request.path).secretIn(request);
  }

  /** As {@link Forwarding.ready}; `undefined` also without other servers. @throws RosterError `no-leader` */
  ready(): Promise<void> | undefined {
    return this.#options.forwarding?.ready();
  }

  /** As {@link Forwarding.requireContact}. @throws RosterError `no-leader` */
  requireContact(): void {
    this.#options.forwarding?.requireContact();
  }

  /** The checks of a WebSocket outside the routes. */
  authorizeUpgrade(request: Request, permission: Permission, trail: Trail): Authorizer {
    const { state, resolve } = this.#options;
    this.#requireReady();
    const authorizer = resolve(state.read(), this.secretIn(request), request.connection);
    trail.caller = authorizer.caller;
    this.#options.gate.pass(authorizer, permission, undefined, { request, trail });
    return authorizer;
  }

  /** Whether a route at this path is a WebSocket. */
  isSocket(path: string): boolean {
    return this.endpointAt('GET', path)?.kind === 'socket';
  }

  /** Whether the route of the request reads its body itself. */
  readsBody(method: string, path: string): boolean {
    return this.endpointAt(method, path)?.body?.isStreamed === true;
  }

  endpointAt(method: string, path: string): Endpoint | undefined {
    try {
      const match = this.#router.match(method, path);
      return match.kind === 'route' ? match.route.endpoint : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * Opens the session of a WebSocket after all checks. `secret` comes from the request or the first
   * message. Never rejects: a refusal is a value.
   */
  async openSocket(request: Request, secret: string | undefined): Promise<Socket | RosterError> {
    const { clock } = this.#options.world;
    const seen: Seen = { request, route: undefined, startMs: clock.monotonicMs(), trail: {} };
    try {
      this.#requireReady();
      const match = this.#match(request);
      if (match.kind !== 'route') throw refusal('route-not-found', { path: request.path });
      const { route } = match.route;
      seen.route = route;
      const { run } = route;
      if (run.kind !== 'socket') throw refusal('route-not-found', { path: request.path });
      await this.ready();
      const { authorizer, input } = prepareInput(this.#options, match, seen, secret);
      const { state, resolve } = this.#options;
      const given = input(authorizer, state.read());
      const permission = route.permission(given);
      this.#options.gate.pass(authorizer, permission, given, seen);
      const { session, made } = await run.open(given);
      seen.trail.made = made;
      this.#observeAnswer(seen, { status: switchingProtocols, headers: {}, body: undefined });
      return {
        session,
        isAllowed: () => {
          this.requireContact();
          return resolve(state.read(), secret, request.connection).allows(permission);
        },
      };
    } catch (thrown) {
      return this.#refusalOf(seen, thrown);
    }
  }

  #run(found: Found, seen: Seen): Answer | Promise<Answer> {
    const { request, trail } = seen;
    const { route } = found.route;
    const secret = route.dialect.secretIn(request);
    const { authorizer, shared, input } = prepareInput(this.#options, found, seen, secret);
    const { run, permission } = route;
    if (run.kind === 'read' || run.kind === 'list') {
      const reading: Reading = { route, shared, seen, secret, input };
      if (!shared.consistent) return this.#reads.answer(reading, authorizer);
      return this.#options.proveLeadership().then(() => this.#reads.answer(reading, authorizer));
    }
    const given = input(authorizer, this.#options.state.read());
    const keyed = run.kind === 'write' ? keyedRequest(route, authorizer, request) : undefined;
    // The rows that the permission depends on may be gone by the first run.
    const kept = keyed && isKnown(authorizer) ? this.#options.keptAnswers.find(keyed) : undefined;
    if (kept !== undefined) {
      trail.isRepeat = true;
      return kept;
    }
    this.#options.gate.pass(authorizer, permission(given), given, seen);
    if (run.kind === 'socket') throw refusal('upgrade-required');
    if (run.kind === 'stream') {
      requireNoKey(route, request);
      // HEAD cannot wait for the end of a stream.
      if (request.method === 'HEAD') return { status: 200, headers: {}, body: undefined };
      const renew = () => {
        this.requireContact();
        const now = this.#options.state.read();
        const resolved = this.#options.resolve(now, secret, request.connection);
        const renewed = input(resolved, now);
        this.#options.gate.pass(resolved, permission(renewed), renewed, seen);
        return renewed;
      };
      const more = { renew, dialect: route.dialect, pieces: piecesOf(request) };
      return run.handle({ ...given, ...more }, untilGone(request));
    }
    const handle = async () => {
      const reply = await run.handle(given);
      noteReply(trail, reply);
      return replyAnswer(route.dialect, reply, shared.pretty);
    };
    return keyed === undefined ? handle() : this.#options.keptAnswers.once(keyed, handle);
  }
}
