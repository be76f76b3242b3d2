import { type Authorizer, describeCaller } from '../acl/authorizer.ts';
import { describePermission, type Permission } from '../acl/permission.ts';
import { assert } from '../base/assert.ts';
import type { World } from '../base/ports.ts';
import { RosterError, refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { aclTokens } from '../state/tables.ts';
import type { Footprint, Snapshot, State } from '../state/types.ts';
import {
  type Attempt,
  gone,
  knownRefusal,
  problemAnswer,
  readAnswer,
  replyAnswer,
  unroutedAnswer,
} from './answers.ts';
import { readBody } from './body.ts';
import { RowEncoder } from './encode.ts';
import type { Answer, Request } from './http.ts';
import { Lister } from './list.ts';
import { placeOf } from './place.ts';
import { parseQuery, type QueryTable } from './query.ts';
import type { Input, Route } from './route.ts';
import { Router } from './router.ts';
import { isBlocking, queryOf, type SharedQuery } from './shared-query.ts';
import { presentedSecret } from './token.ts';
import type { Trail } from './trail.ts';
import { changed, waitMsOf } from './wait.ts';

export interface PipelineOptions {
  readonly routes: readonly Route[];
  readonly state: State;
  readonly world: Pick<World, 'clock' | 'timers' | 'random' | 'ids'>;
  /** Who presents the secret, by the newest state. Throws `token-not-found`. */
  readonly resolve: (
    snapshot: Snapshot,
    secret: string | undefined,
    connection: object | undefined,
  ) => Authorizer;
  /** Proves leadership for `consistent` reads. Throws `no-leader`. */
  readonly proveLeadership: () => Promise<void>;
  readonly observe: (observation: Observation) => void;
}

/** One answered request, for metrics and logs. `failure` is only there for a bug. */
export interface Observation {
  readonly request: Request;
  readonly route: Route | undefined;
  readonly status: number;
  readonly durationMs: number;
  readonly failure?: unknown;
  readonly requestId?: string;
  readonly trail: Trail;
}

interface Prepared {
  readonly route: Route;
  readonly query: QueryTable;
}

/**
 * The shared mechanism of every route (DESIGN §5).
 *
 * Invariants
 *  H1. The order of the checks is: path and method, token, parsing, permission, validity of the
 *      content, existence, guard. A caller without the permission learns nothing else.
 *  H2. A read's index is that of what it read, so it blocks on just that and wakes by just that.
 *  H3. Whoever waits holds no result and no snapshot, and is asked for its permission again when
 *      it wakes.
 *  H4. What is thrown becomes a problem of the catalogue; anything else is a bug, whose details go
 *      to the log and not to the caller.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #router: Router<Route & Prepared>;
  readonly #rows = new RowEncoder();
  readonly #lister = new Lister();
  /** What ends each wait that is under way. */
  readonly #parked = new Set<() => void>();
  #stopping = false;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#router = new Router(
      options.routes.map((route) => ({ ...route, route, query: queryOf(route) })),
    );
  }

  /** Blocking queries that wait at the moment. */
  get parked(): number {
    return this.#parked.size;
  }

  /** Answers every blocking query with what there is, now and from then on. */
  stop(): void {
    this.#stopping = true;
    for (const end of [...this.#parked]) end();
  }

  /** At once where nothing has to be waited for: most answers need no promise. */
  handle(request: Request): Answer | Promise<Answer> {
    const seen: Seen = {
      request,
      route: undefined,
      startMs: this.#options.world.clock.monotonicMs(),
      trail: {},
    };
    let outcome: Answer | Promise<Answer>;
    try {
      outcome = this.#route(request, seen);
    } catch (thrown) {
      return this.#fail(seen, thrown);
    }
    if (!(outcome instanceof Promise)) return this.#done(seen, outcome);
    return outcome.then(
      (answer) => this.#done(seen, answer),
      (thrown) => this.#fail(seen, thrown),
    );
  }

  #route(request: Request, seen: Seen): Answer | Promise<Answer> {
    if (request.path.length + request.query.length > limits.http.urlBytesMax) {
      throw refusal('url-too-long', { limit: limits.http.urlBytesMax });
    }
    const match = this.#router.match(request.method, request.path);
    if (match.kind !== 'route') return unroutedAnswer(match, request);
    seen.route = match.route.route;
    return this.#run(match.route, match.parameters, request, seen.trail);
  }

  #done({ request, route, startMs, trail }: Seen, answer: Answer): Answer {
    const durationMs = this.#options.world.clock.monotonicMs() - startMs;
    this.#options.observe({ request, route, status: answer.status, durationMs, trail });
    return answer;
  }

  /** What was thrown, as an answer: a refusal of the catalogue, or a bug that only the log tells. */
  #fail(seen: Seen, thrown: unknown): Answer {
    const known = knownRefusal(thrown);
    if (known !== undefined) {
      seen.trail.code = known.code;
      return this.#done(seen, problemAnswer(known));
    }
    const { clock, ids } = this.#options.world;
    const { request, route, startMs, trail } = seen;
    const requestId = ids.uuid();
    const answer = problemAnswer(refusal('internal-error', { request: requestId }));
    const durationMs = clock.monotonicMs() - startMs;
    const { status } = answer;
    const failure = { failure: thrown, requestId };
    this.#options.observe({ request, route, status, durationMs, trail, ...failure });
    return answer;
  }

  /** The same checks for a WebSocket, whose handler takes over once they have passed. */
  authorizeUpgrade(request: Request, permission: Permission): Authorizer {
    const { state, resolve } = this.#options;
    const authorizer = resolve(state.read(), presentedSecret(request), request.connection);
    demand(authorizer, permission, undefined, {});
    return authorizer;
  }

  #run(
    { route, query: table }: Prepared,
    parameters: Readonly<Record<string, string>>,
    request: Request,
    trail: Trail,
  ): Answer | Promise<Answer> {
    const secret = presentedSecret(request);
    const authorizer = this.#options.resolve(
      this.#options.state.read(),
      secret,
      request.connection,
    );
    trail.caller = authorizer.caller;
    // Keys of the state are parts that end in NUL: none may hold one.
    for (const name in parameters) {
      if (!parameters[name]!.includes('\0')) continue;
      throw refusal('invalid-path', { reason: 'must not hold a NUL character' });
    }
    const { values, faults } = parseQuery(table, request.query);
    if (faults.length > 0) throw queryRefusal(faults);
    const shared = values as unknown as SharedQuery;
    if (shared.stale && shared.consistent) {
      const reason = 'cannot be given together with "consistent": they contradict each other';
      throw refusal('invalid-query', { parameter: 'stale', reason });
    }
    const { body, unknownFields } = readBody(route, request);
    const place = placeOf(route.family, shared, body, request);
    const { state } = this.#options;
    const input = (authorized: Authorizer, snapshot: Snapshot): Input => ({
      unwatched: state.read(),
      parameters,
      query: values,
      body,
      unknownFields,
      ...place(authorized.caller),
      caller: authorized.caller,
      address: () => request.remoteAddress ?? '',
      allows: (permission) => authorized.allows(permission),
      snapshot,
    });
    const { run } = route;
    if (run.kind === 'read' || run.kind === 'list') {
      const reading: Reading = { route, shared, request, secret, input, trail };
      if (!shared.consistent) return this.#read(reading, authorizer);
      return this.#options.proveLeadership().then(() => this.#read(reading, authorizer));
    }
    const given = input(authorizer, state.read());
    demand(authorizer, run.permission(given), given, trail);
    if (run.kind === 'stream') return run.handle(given, untilGone(request));
    const { family } = route;
    return run.handle(given).then((reply) => {
      if (reply.made !== undefined) trail.made = reply.made;
      return replyAnswer(family, reply, shared.pretty);
    });
  }

  #read(reading: Reading, authorizer: Authorizer): Answer | Promise<Answer> {
    const minimum = isBlocking(reading.route) ? reading.shared.index : 0;
    const before = { minimum, deadlineMs: undefined, wasMissing: false };
    const looked = this.#look(reading, authorizer, before);
    return 'status' in looked ? looked : this.#wait(reading, authorizer, looked, minimum);
  }

  /** Looks again whenever something changed. In between only a footprint is held. */
  async #wait(
    reading: Reading,
    first: Authorizer,
    seen: Unchanged,
    minimum: number,
  ): Promise<Answer> {
    const { state, world, resolve } = this.#options;
    const { clock } = world;
    const { shared, secret, request } = reading;
    const deadlineMs = clock.monotonicMs() + this.#waitMs(shared.wait);
    let looked = seen;
    let authorizer = first;
    for (;;) {
      const leftMs = deadlineMs - clock.monotonicMs();
      if ((await this.#park(looked.footprint, authorizer, leftMs, request)) === 'gone') return gone;
      // The token may have expired meanwhile, which no commit tells of.
      authorizer = resolve(state.read(), secret, request.connection);
      const before = { minimum, deadlineMs, wasMissing: looked.isMissing };
      const next = this.#look(reading, authorizer, before);
      if ('status' in next) return next;
      looked = next;
    }
  }

  /** The answer, or what to wait for. */
  #look(
    reading: Reading,
    authorizer: Authorizer,
    { minimum, deadlineMs, wasMissing }: Before,
  ): Answer | Unchanged {
    const attempt = this.#attempt(reading, authorizer);
    const { footprint } = attempt;
    const isMissing = attempt.missing !== undefined;
    const { clock } = this.#options.world;
    const isOver =
      minimum === 0 ||
      footprint.index > minimum ||
      // What has appeared is news, even when nothing that it holds has an index yet.
      (wasMissing && !isMissing) ||
      this.#stopping ||
      (deadlineMs !== undefined && clock.monotonicMs() >= deadlineMs);
    return isOver ? readAnswer(attempt) : { footprint, isMissing };
  }

  /** One look at the newest state. What it finds missing is an outcome, since it may appear. */
  #attempt({ route, shared, input, trail }: Reading, authorizer: Authorizer): Attempt {
    const { run, family } = route;
    assert(run.kind === 'read' || run.kind === 'list', 'only reads are attempted');
    const { snapshot, footprint } = this.#options.state.track();
    const given = input(authorizer, snapshot);
    // Asked of the unwatched view, so that the check leaves no trace in the footprint.
    const permission = run.permission({ ...given, snapshot: given.unwatched });
    demand(authorizer, permission, given, trail);
    try {
      if (run.kind === 'list') {
        const page = this.#lister.page(run, given, shared, authorizer);
        return { family, footprint, pretty: shared.pretty, value: page.items, ...page };
      }
      const value = run.handle(given);
      const rows = run.answersRow ? this.#rows : undefined;
      return { family, footprint, pretty: shared.pretty, value, rows };
    } catch (thrown) {
      if (!(thrown instanceof RosterError) || thrown.status !== 404) throw thrown;
      trail.code = thrown.code;
      return { family, footprint, pretty: shared.pretty, missing: thrown };
    }
  }

  #waitMs(wait: number | undefined): number {
    const { waitDefaultMs, waitMaxMs, jitterDivisor } = limits.watch;
    const bounds = { defaultMs: waitDefaultMs, maxMs: waitMaxMs, jitterDivisor };
    return waitMsOf(wait, this.#options.world.random, bounds);
  }

  /** Wakes as well when the caller's token changes or is lost (DESIGN §5 "Blocking"). */
  #park(
    footprint: Footprint,
    { caller }: Authorizer,
    waitMs: number,
    request: Request,
  ): Promise<'over' | 'gone'> {
    if (this.#parked.size >= limits.watch.parkedMax) {
      throw refusal('too-many-watches', { limit: limits.watch.parkedMax });
    }
    const { state, world } = this.#options;
    const footprints = [footprint];
    if (caller.kind === 'token') {
      const token = state.track();
      const prefix = [caller.accessor];
      token.snapshot.table(aclTokens).by('accessor').scan({ prefix });
      footprints.push(token.footprint);
    }
    const { timers } = world;
    return changed({ state, footprints, waitMs, parked: this.#parked, timers, request });
  }
}

interface Seen {
  readonly request: Request;
  route: Route | undefined;
  readonly startMs: number;
  readonly trail: Trail;
}

/** A read under way. */
interface Reading {
  readonly route: Route;
  readonly shared: SharedQuery;
  readonly request: Request;
  readonly secret: string | undefined;
  readonly input: (authorizer: Authorizer, snapshot: Snapshot) => Input;
  readonly trail: Trail;
}

/** Nothing to answer yet: what to wait for. */
interface Unchanged {
  readonly footprint: Footprint;
  readonly isMissing: boolean;
}

/** What a blocking query knows from its last look. */
interface Before {
  readonly minimum: number;
  readonly deadlineMs: number | undefined;
  readonly wasMissing: boolean;
}

/** For what goes on after the answer has begun. */
function untilGone(request: Request): AbortSignal {
  const gone = new AbortController();
  request.onGone?.(() => gone.abort());
  return gone.signal;
}

function demand(
  authorizer: Authorizer,
  permission: Permission,
  place: Pick<Input, 'namespace'> | undefined,
  trail: Trail,
): void {
  trail.permission = permission;
  if (place !== undefined) trail.namespace = place.namespace;
  trail.isAllowed = authorizer.allows(permission);
  if (trail.isAllowed) return;
  throw refusal('permission-denied', {
    caller: describeCaller(authorizer.caller),
    permission: describePermission(permission),
  });
}

function queryRefusal(faults: readonly { name: string; message: string }[]): RosterError {
  const list = faults.map(({ name, message }) => ({ pointer: `?${name}`, message }));
  return new RosterError('invalid-query', list.map(({ message }) => message).join('; '), list);
}
