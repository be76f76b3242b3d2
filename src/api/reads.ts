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
import type { Answer, Follower, Request } from './http.ts';
import { KeptLists } from './kept-lists.ts';
import { Lister } from './list.ts';
import { KeptTexts } from './list-text.ts';
import { measured } from './measured.ts';
import type { Moment } from './moment.ts';
import type { Input, Route } from './route.ts';
import type { Seen, Trail } from './trail.ts';
import { type Taken, Turns } from './turns.ts';
import { changed, waitMsOf } from './wait.ts';

export interface ReadsOptions {
  readonly state: State;
  readonly world: Pick<World, 'clock' | 'timers' | 'random'>;
  /** The caller with this secret, by the newest state. Throws `token-not-found`. */
  readonly resolve: (
    snapshot: Snapshot,
    secret: string | undefined,
    connection: object | undefined,
  ) => Authorizer;
  readonly gate: Gate;
  /** Throws `no-leader` if the state of this server is too old. */
  readonly requireContact: () => void;
  /** Called for a bug after the answer has begun. */
  readonly onFailure: (seen: Seen, thrown: unknown) => void;
}

/** A read with a known caller and a parsed query. */
export interface Reading {
  readonly route: Route;
  readonly shared: SharedQuery;
  readonly seen: Seen;
  readonly secret: string | undefined;
  readonly input: (authorizer: Authorizer, snapshot: Snapshot) => Input;
}

/** Nothing to answer yet. The query waits for a change in the footprint. */
interface Unchanged {
  readonly footprint: Footprint;
  readonly moment: Moment;
  readonly isMissing: boolean;
}

type Looked = Answer | Unchanged;

/** The facts that a blocking query keeps of its last attempt. */
interface Before {
  readonly minimum: number;
  readonly deadlineMs: number | undefined;
  readonly wasMissing: boolean;
  readonly moment: Moment;
}

/**
 * Answers reads and lists, and repeats blocking queries until their answer changes
 * (docs/contract/http.md#blocking-queries).
 *
 * Invariants
 *  R1. A read's footprint gives both its index and the changes that wake it.
 *  R2. A waiting query holds no result and no snapshot, and its permission is checked again when it
 *      wakes.
 *  R3. A read that depends on the time names the moment of its next change, and a query that waits is answered then.
 *  R4. A query that waits is not answered from a state that has become too old meanwhile.
 */
export class Reads {
  readonly #options: ReadsOptions;
  readonly #rows = new RowEncoder();
  readonly #turns: Turns;
  readonly #lister: Lister;
  /** Ends each waiting query. */
  readonly #parked = new Set<() => void>();
  readonly #unsubscribe: readonly (() => void)[];
  /** The number of waiting queries without a token, which anyone who reaches the port can send. */
  #anonymous = 0;
  #stopping = false;

  constructor(options: ReadsOptions) {
    this.#options = options;
    this.#turns = new Turns(options.world);
    const texts = new KeptTexts();
    const kept = new KeptLists(this.#turns);
    this.#unsubscribe = [
      options.state.onCommit((changes, index) => {
        kept.hear(changes, index);
        for (const { before } of changes) {
          if (before === undefined) continue;
          this.#rows.forget(before);
          texts.forget(before);
        }
      }),
      options.state.onReplaced(() => {
        this.#rows.forgetAll();
        texts.forgetAll();
        kept.loseAll();
      }),
    ];
    this.#lister = new Lister(this.#turns, { texts, kept });
  }

  /** The number of waiting blocking queries. */
  get parked(): number {
    return this.#parked.size;
  }

  /** Answers all blocking queries at once, now and later. */
  stop(): void {
    this.#stopping = true;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    for (const end of [...this.#parked]) end();
  }

  /** Without a promise, unless the query waits or the answer is long. */
  answer(reading: Reading, authorizer: Authorizer): Answer | Promise<Answer> {
    const { blocking } = reading.route.endpoint;
    const minimum = blocking ? reading.shared.index : 0;
    if (minimum === 0) return this.#answerNow(reading, authorizer);
    const before = { minimum, deadlineMs: undefined, wasMissing: false, moment: {} };
    const looked = this.#lookOnce(reading, authorizer, before);
    if (looked instanceof Promise) {
      return looked.then((found) =>
        'status' in found ? found : this.#wait(reading, authorizer, found, minimum),
      );
    }
    return 'status' in looked ? looked : this.#wait(reading, authorizer, looked, minimum);
  }

  #answerNow(reading: Reading, authorizer: Authorizer): Answer | Promise<Answer> {
    const attempt = this.#attempt(reading, authorizer);
    if (!(attempt instanceof Promise)) return readAnswer(attempt);
    return attempt.then((made) => (made === undefined ? gone : readAnswer(made)));
  }

  /** Repeats the read after each change. Between attempts only a footprint is held. */
  async #wait(
    reading: Reading,
    first: Authorizer,
    seen: Unchanged,
    minimum: number,
  ): Promise<Answer> {
    const { state, world, resolve, requireContact } = this.#options;
    const { clock } = world;
    const { shared, secret } = reading;
    const { request } = reading.seen;
    const deadlineMs = clock.monotonicMs() + this.#waitMs(shared.wait);
    let looked = seen;
    let authorizer = first;
    for (;;) {
      const { moment } = looked;
      const { atMs: momentMs = Number.POSITIVE_INFINITY } = moment;
      const untilMomentMs = Math.max(0, Math.ceil(momentMs - clock.nowMs()));
      const leftMs = Math.min(deadlineMs - clock.monotonicMs(), untilMomentMs);
      if ((await this.#park(looked.footprint, authorizer, leftMs, request)) === 'gone') return gone;
      requireContact();
      // A token can expire without a commit.
      authorizer = resolve(state.read(), secret, request.connection);
      const before = { minimum, deadlineMs, wasMissing: looked.isMissing, moment };
      const found = this.#lookOnce(reading, authorizer, before);
      const next = found instanceof Promise ? await found : found;
      if ('status' in next) return next;
      looked = next;
    }
  }

  #lookOnce(reading: Reading, authorizer: Authorizer, before: Before): Looked | Promise<Looked> {
    const attempt = this.#attempt(reading, authorizer);
    if (!(attempt instanceof Promise)) return this.#judgeAttempt(attempt, before);
    return attempt.then((made) => (made === undefined ? gone : this.#judgeAttempt(made, before)));
  }

  /** The answer, or the footprint to wait for. */
  #judgeAttempt(attempt: Attempt, before: Before): Looked {
    const { minimum, deadlineMs, wasMissing } = before;
    const { footprint, moment = {} } = attempt;
    const isMissing = attempt.missing !== undefined;
    const { clock } = this.#options.world;
    const isOver =
      footprint.index > minimum ||
      // A record that has appeared is a change, even if its index is not higher.
      (wasMissing && !isMissing) ||
      this.#stopping ||
      (before.moment.atMs !== undefined && clock.nowMs() >= before.moment.atMs) ||
      (deadlineMs !== undefined && clock.monotonicMs() >= deadlineMs);
    return isOver ? readAnswer(attempt) : { footprint, moment, isMissing };
  }

  /**
   * Reads the newest state. A missing record is an outcome, because it may appear later. A promise
   * if the read is long, of `undefined` if the caller disconnects.
   */
  #attempt(
    { route, shared, input, seen }: Reading,
    authorizer: Authorizer,
  ): Attempt | Promise<Attempt | undefined> {
    const { run, dialect, permission } = route;
    const { pretty } = shared;
    const { request, trail } = seen;
    assert(run.kind === 'read' || run.kind === 'list', 'only reads are attempted');
    const { snapshot, footprint } = this.#options.state.track();
    const { follower } = request;
    const given = input(authorizer, snapshot);
    const { moment } = given;
    if (follower !== undefined) {
      noteUseOf(given, follower);
      if (route.endpoint.blocking) {
        const ofCaller = this.#footprintsOf(authorizer);
        follower.onRead({ ofAnswer: footprint, ofCaller, authorizer, moment });
      }
    }
    const contact = given.contact();
    this.#options.gate.pass(authorizer, permission(given), given, seen);
    try {
      if (run.kind === 'list') {
        const onFailure = (thrown: unknown) => this.#options.onFailure(seen, thrown);
        const question = { run, input: given, shared, authorizer, request, onFailure };
        const page = this.#lister.page(question);
        const read = { dialect, footprint, moment, pretty, contact };
        return page instanceof Promise ? attemptOf(read, page, trail) : { ...read, ...page };
      }
      if (!run.isInSteps) {
        const value = run.handle(given);
        const rowsIn = run.rowsIn(given);
        return { dialect, footprint, moment, pretty, contact, rowsIn, rows: this.#rows, value };
      }
      const taken = this.#takeSteps(run.handle(given) as Steps<unknown>, request);
      if (taken === undefined) return Promise.resolve(undefined);
      const read = { dialect, footprint, moment, pretty, contact };
      return taken instanceof Promise ? attemptOf(read, taken, trail) : { ...read, ...taken };
    } catch (thrown) {
      return { dialect, footprint, moment, pretty, contact, missing: missingOf(thrown, trail) };
    }
  }

  /** A promise if it takes long, of `undefined` if the caller disconnects. */
  #takeSteps(steps: Steps<unknown>, request: Request): Taken<unknown> | Promise<Taken<unknown>> {
    let isGone = false;
    const stay = request.onGone?.(() => {
      isGone = true;
    });
    const taken = this.#turns.through(measured(steps, request), () => isGone);
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
   * Also wakes when the caller's token changes or is deleted
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
    const footprints = [footprint, ...this.#footprintsOf({ caller })];
    const { timers } = world;
    const over = changed({ state, footprints, waitMs, parked: this.#parked, timers, request });
    if (!isAnonymous) return over;
    this.#anonymous++;
    return over.finally(() => this.#anonymous--);
  }

  /** The rows that the caller's rights end with. */
  #footprintsOf({ caller }: Pick<Authorizer, 'caller'>): readonly Footprint[] {
    if (caller.kind !== 'token' && caller.kind !== 'workload') return [];
    const { snapshot, footprint } = this.#options.state.track();
    if (caller.kind === 'token') {
      const prefix = [caller.accessor];
      snapshot.table(aclTokens).by('accessor').scan({ prefix });
    } else {
      // The token of a workload ends with its allocation.
      const prefix = [caller.allocation];
      snapshot.table(allocations).by('id').scan({ prefix });
    }
    return [footprint];
  }
}

/** Tells the follower when the caller of the input is asked for. */
function noteUseOf(given: Input, follower: Follower): void {
  const { caller } = given;
  const get = () => {
    follower.onCaller();
    return caller;
  };
  Object.defineProperty(given, 'caller', { get, enumerable: true });
}

/** The attempt of a read that takes long. A promise of `undefined` if the caller disconnects. */
const attemptOf = <R extends object, M extends object>(
  read: R,
  made: Promise<M | undefined>,
  trail: Trail,
) =>
  made.then(
    (found) => found && { ...read, ...found },
    (thrown) => ({ ...read, missing: missingOf(thrown, trail) }),
  );

/** The error of a missing record. Other exceptions are rethrown. */
function missingOf(thrown: unknown, trail: Trail): RosterError {
  if (!(thrown instanceof RosterError) || thrown.status !== 404) throw thrown;
  trail.code = thrown.code;
  return thrown;
}
