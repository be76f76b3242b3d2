import type { Authorizer } from '../acl/authorizer.ts';
import { assert } from '../base/assert.ts';
import type { World } from '../base/ports.ts';
import type { Steps } from '../base/steps.ts';
import type { SharedQuery } from '../contract/shared-query.ts';
import { RosterError, refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { aclTokens, allocations } from '../state/tables.ts';
import type { Footprint, Snapshot, State } from '../state/types.ts';
import { type Attempt, gone, readAnswer } from './answers.ts';
import { RowEncoder } from './encode.ts';
import type { Gate } from './gate.ts';
import type { Answer, Request } from './http.ts';
import { Lister } from './list.ts';
import type { Input, Route } from './route.ts';
import type { Seen, Trail } from './trail.ts';
import { type Taken, Turns } from './turns.ts';
import { changed, waitMsOf } from './wait.ts';

export interface ReadsOptions {
  readonly state: State;
  readonly world: Pick<World, 'clock' | 'timers' | 'random'>;
  /** Who presents the secret, by the newest state. Throws `token-not-found`. */
  readonly resolve: (
    snapshot: Snapshot,
    secret: string | undefined,
    connection: object | undefined,
  ) => Authorizer;
  readonly gate: Gate;
  /** Told of a bug that shows only when the answer has begun. */
  readonly onFailure: (seen: Seen, thrown: unknown) => void;
}

/** A read under way, whose caller is known and whose query is parsed. */
export interface Reading {
  readonly route: Route;
  readonly shared: SharedQuery;
  readonly seen: Seen;
  readonly secret: string | undefined;
  readonly input: (authorizer: Authorizer, snapshot: Snapshot) => Input;
}

/** Nothing to answer yet: what to wait for. */
interface Unchanged {
  readonly footprint: Footprint;
  readonly isMissing: boolean;
}

type Looked = Answer | Unchanged;

/** What a blocking query knows from its last look. */
interface Before {
  readonly minimum: number;
  readonly deadlineMs: number | undefined;
  readonly wasMissing: boolean;
}

/**
 * Answers reads and lists: looks at the state, and waits and looks again where that was asked for
 * (docs/contract/http.md#blocking-queries).
 *
 * Invariants
 *  R1. A read's index is that of what it read, so it blocks on just that and wakes by just that.
 *  R2. Whoever waits holds no result and no snapshot, and is asked for its permission again when
 *      it wakes.
 */
export class Reads {
  readonly #options: ReadsOptions;
  readonly #rows = new RowEncoder();
  readonly #turns: Turns;
  readonly #lister: Lister;
  /** What ends each wait that is under way. */
  readonly #parked = new Set<() => void>();
  readonly #unsubscribe: () => void;
  /** How many of them show no token: whoever reaches the port may send them. */
  #anonymous = 0;
  #stopping = false;

  constructor(options: ReadsOptions) {
    this.#options = options;
    this.#turns = new Turns(options.world);
    this.#unsubscribe = options.state.onCommit((changes) => {
      for (const { before } of changes) if (before !== undefined) this.#rows.forget(before);
    });
    this.#lister = new Lister(this.#turns);
  }

  /** Blocking queries that wait at the moment. */
  get parked(): number {
    return this.#parked.size;
  }

  /** Answers every blocking query with what there is, now and from then on. */
  stop(): void {
    this.#stopping = true;
    this.#unsubscribe();
    for (const end of [...this.#parked]) end();
  }

  /** At once, unless it has to wait or is long. */
  answer(reading: Reading, authorizer: Authorizer): Answer | Promise<Answer> {
    const minimum = reading.route.endpoint.blocking ? reading.shared.index : 0;
    const before = { minimum, deadlineMs: undefined, wasMissing: false };
    const looked = this.#look(reading, authorizer, before);
    if (looked instanceof Promise) {
      return looked.then((found) =>
        'status' in found ? found : this.#wait(reading, authorizer, found, minimum),
      );
    }
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
    const { shared, secret } = reading;
    const { request } = reading.seen;
    const deadlineMs = clock.monotonicMs() + this.#waitMs(shared.wait);
    let looked = seen;
    let authorizer = first;
    for (;;) {
      const leftMs = deadlineMs - clock.monotonicMs();
      if ((await this.#park(looked.footprint, authorizer, leftMs, request)) === 'gone') return gone;
      // The token may have expired meanwhile, which no commit tells of.
      authorizer = resolve(state.read(), secret, request.connection);
      const before = { minimum, deadlineMs, wasMissing: looked.isMissing };
      const found = this.#look(reading, authorizer, before);
      const next = found instanceof Promise ? await found : found;
      if ('status' in next) return next;
      looked = next;
    }
  }

  #look(reading: Reading, authorizer: Authorizer, before: Before): Looked | Promise<Looked> {
    const attempt = this.#attempt(reading, authorizer);
    if (!(attempt instanceof Promise)) return this.#judge(attempt, before);
    return attempt.then((made) => (made === undefined ? gone : this.#judge(made, before)));
  }

  /** The answer, or what to wait for. */
  #judge(attempt: Attempt, { minimum, deadlineMs, wasMissing }: Before): Looked {
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

  /**
   * One look at the newest state. What it finds missing is an outcome, since it may appear. A
   * promise when a list, or what is read, is long; of `undefined` when the caller is gone.
   */
  #attempt(
    { route, shared, input, seen }: Reading,
    authorizer: Authorizer,
  ): Attempt | Promise<Attempt | undefined> {
    const { run, dialect } = route;
    const { pretty } = shared;
    const { request, trail } = seen;
    assert(run.kind === 'read' || run.kind === 'list', 'only reads are attempted');
    const { snapshot, footprint } = this.#options.state.track();
    const given = input(authorizer, snapshot);
    // Asked of the unwatched view, so that the check leaves no trace in the footprint.
    const permission = run.permission({ ...given, snapshot: given.unwatched });
    this.#options.gate.pass(authorizer, permission, given, seen);
    try {
      if (run.kind === 'list') {
        const onFailure = (thrown: unknown) => this.#options.onFailure(seen, thrown);
        const question = { run, input: given, shared, authorizer, request, onFailure };
        const page = this.#lister.page(question);
        if (!(page instanceof Promise)) return { dialect, footprint, pretty, ...page };
        return page.then(
          (made) => made && { dialect, footprint, pretty, ...made },
          (thrown) => ({ dialect, footprint, pretty, missing: missingOf(thrown, trail) }),
        );
      }
      const common = { dialect, footprint, pretty, rowsIn: run.rowsIn(given), rows: this.#rows };
      if (!run.isInSteps) return { ...common, value: run.handle(given) };
      const taken = this.#through(run.handle(given) as Steps<unknown>, request);
      if (taken === undefined) return Promise.resolve(undefined);
      if (!(taken instanceof Promise)) return { ...common, ...taken };
      return taken.then(
        (made) => made && { ...common, ...made },
        (thrown) => ({ dialect, footprint, pretty, missing: missingOf(thrown, trail) }),
      );
    } catch (thrown) {
      return { dialect, footprint, pretty, missing: missingOf(thrown, trail) };
    }
  }

  /** A promise when it takes long; of `undefined` when the caller is gone. */
  #through(steps: Steps<unknown>, request: Request): Taken<unknown> | Promise<Taken<unknown>> {
    let isGone = false;
    const stay = request.onGone?.(() => {
      isGone = true;
    });
    const taken = this.#turns.through(steps, () => isGone);
    if (taken instanceof Promise) return taken.finally(() => stay?.());
    stay?.();
    return taken;
  }

  #waitMs(wait: number | undefined): number {
    const { waitDefaultMs, waitMaxMs, jitterDivisor } = limits.watch;
    const bounds = { defaultMs: waitDefaultMs, maxMs: waitMaxMs, jitterDivisor };
    return waitMsOf(wait, this.#options.world.random, bounds);
  }

  /**
   * Wakes as well when the caller's token changes or is lost
   * (docs/contract/http.md#blocking-queries).
   */
  #park(
    footprint: Footprint,
    { caller }: Authorizer,
    waitMs: number,
    request: Request,
  ): Promise<'over' | 'gone'> {
    if (this.#parked.size >= limits.watch.parkedMax) {
      throw refusal('too-many-watches', { limit: limits.watch.parkedMax });
    }
    const isAnonymous = caller.kind === 'anonymous';
    if (isAnonymous && this.#anonymous >= limits.watch.parkedAnonymousMax) {
      throw refusal('too-many-watches', { limit: limits.watch.parkedAnonymousMax });
    }
    const { state, world } = this.#options;
    const footprints = [footprint];
    if (caller.kind === 'token') {
      const token = state.track();
      const prefix = [caller.accessor];
      token.snapshot.table(aclTokens).by('accessor').scan({ prefix });
      footprints.push(token.footprint);
    }
    if (caller.kind === 'workload') {
      // Its token ends with its allocation.
      const { snapshot, footprint: own } = this.#options.state.track();
      snapshot
        .table(allocations)
        .by('id')
        .scan({ prefix: [caller.allocation] });
      footprints.push(own);
    }
    const { timers } = world;
    const over = changed({ state, footprints, waitMs, parked: this.#parked, timers, request });
    if (!isAnonymous) return over;
    this.#anonymous++;
    return over.finally(() => this.#anonymous--);
  }
}

/** What was looked for and is not there. Whatever else was thrown goes on. */
function missingOf(thrown: unknown, trail: Trail): RosterError {
  if (!(thrown instanceof RosterError) || thrown.status !== 404) throw thrown;
  trail.code = thrown.code;
  return thrown;
}
