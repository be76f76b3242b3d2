import type { Timer, World } from '../../base/ports.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { State } from '../../state/types.ts';
import type { Request } from '../http.ts';
import { Memory } from '../memory.ts';
import type { Pipeline } from '../pipeline.ts';
import { Circles, type Member } from './circle.ts';
import { Meter } from './meter.ts';
import { Pace } from './pace.ts';
import { type Reading, RightsNames, readingOf } from './reading.ts';
import type { WatchedAnswer } from './watched-answer.ts';

export interface SharedWatchesOptions {
  readonly pipeline: Pipeline;
  readonly state: State;
  readonly world: Pick<World, 'clock' | 'processor' | 'timers' | 'secrets'>;
  readonly knowsLeader: () => boolean;
}

/** A follower of a watched path. */
export interface Subscriber {
  /** There is a newer answer. */
  offer(answer: WatchedAnswer): void;
}

/** The watched paths of a thread. DESIGN.md */
export class SharedWatches {
  readonly #options: SharedWatchesOptions;
  readonly #pace = new Pace();
  readonly #circles = new Circles();
  readonly #rights = new RightsNames();
  readonly #byKey = new Map<string, SharedWatch>();
  /** The length of all answers that are kept. */
  heldLength = 0;

  constructor(options: SharedWatchesOptions) {
    this.#options = options;
  }

  /** The number of paths, each with one token. */
  get size(): number {
    return this.#byKey.size;
  }

  /** Follows the path of the request. `key` names its caller. Returns the end. @throws RosterError `not-watchable` */
  follow(key: string, request: Request, subscriber: Subscriber): () => void {
    const endpoint = this.#options.pipeline.endpointAt('GET', request.path);
    if (endpoint !== undefined && endpoint.kind !== 'read' && endpoint.kind !== 'list') {
      throw refusal('not-watchable', { path: request.path });
    }
    const whole = JSON.stringify([key, request.path, request.query]);
    let watch = this.#byKey.get(whole);
    if (watch === undefined) {
      watch = new SharedWatch({
        ...this.#options,
        request,
        pace: this.#pace,
        circles: this.#circles,
        rights: this.#rights,
        held: (change) => {
          this.heldLength += change;
        },
      });
      this.#byKey.set(whole, watch);
    }
    const shared = watch;
    shared.add(subscriber);
    return () => {
      if (shared.remove(subscriber) && this.#byKey.get(whole) === shared) this.#byKey.delete(whole);
    };
  }

  /** Does work for a watch between its readings. */
  measure(work: () => void): void {
    const { clock, processor } = this.#options.world;
    const meter = new Meter(processor);
    meter.measure(work);
    this.#pace.charge(clock.monotonicMs(), meter.usedMs);
  }

  /** Rights, or whether a leader is known, have changed: every path is read again. */
  readAgain(): void {
    for (const watch of this.#byKey.values()) watch.readAgain();
  }
}

interface SharedWatchOptions extends SharedWatchesOptions {
  readonly request: Request;
  readonly pace: Pace;
  readonly circles: Circles;
  readonly rights: RightsNames;
  /** The length of the kept answer has changed by so much. */
  readonly held: (change: number) => void;
}

/** A path that is read again when its answer may have changed, while anybody follows it. */
class SharedWatch implements Member {
  readonly #options: SharedWatchOptions;
  readonly #subscribers = new Set<Subscriber>();
  readonly #memory = new Memory();
  #newest: WatchedAnswer | undefined;
  #reading: Reading | undefined;
  /** The number of its own readings so far. */
  #readings = 0;
  /** The circle that it leads or follows. */
  #circle: string | undefined;
  #isDirty = false;
  /** The reading was made before rights changed or the state was replaced. */
  #isOutdated = false;
  #isOver = false;
  /** Ends the present wait. */
  #wake: () => void = () => {};
  /** Ends the wait for the leader of the circle, and stays in it. */
  #takeLead: () => void = () => {};

  constructor(options: SharedWatchOptions) {
    this.#options = options;
    void this.#run();
  }

  add(subscriber: Subscriber): void {
    this.#subscribers.add(subscriber);
    if (this.#newest !== undefined) subscriber.offer(this.#newest);
  }

  /** Whether nobody follows it any more. */
  remove(subscriber: Subscriber): boolean {
    this.#subscribers.delete(subscriber);
    if (this.#subscribers.size > 0) return false;
    if (!this.#isOver) this.#options.held(-(this.#newest?.length ?? 0));
    this.#isOver = true;
    this.#memory.end();
    this.#leaveCircle();
    this.#wake();
    return true;
  }

  readAgain(): void {
    this.#isDirty = true;
    this.#wake();
  }

  async #run(): Promise<void> {
    const { clock } = this.#options.world;
    while (!this.#isOver) {
      this.#isOutdated = this.#isDirty;
      this.#isDirty = false;
      await this.#read();
      const endMs = clock.monotonicMs();
      if (this.#leads()) await this.#changed(endMs);
      else await this.#led();
      if (!this.#isOver) await this.#awaitTurn(endMs);
    }
  }

  async #read(): Promise<void> {
    const { request } = this.#options;
    const isFresh = await this.#becomesFresh();
    if (this.#isOver) return;
    const options = { ...this.#options, memory: this.#memory, last: this.#newest };
    const reading = await readingOf(request, isFresh, options);
    this.#readings += 1;
    if (this.#isOver) return this.#memory.end();
    reading.meter.measure(() => {
      this.#takeReading(reading);
      this.#shareReading(reading);
    });
  }

  /** Waits until the answer would be exact; `false`: no leader is known, with which the wait may be long, and is for nothing. */
  #becomesFresh(): Promise<boolean> {
    const { pipeline, knowsLeader } = this.#options;
    if (!knowsLeader()) return Promise.resolve(false);
    return new Promise((resolve) => {
      let isOver = false;
      const end = (isFresh: boolean): void => {
        // By now the watch may wait for something else.
        if (isOver) return;
        isOver = true;
        this.#wake = () => {};
        resolve(isFresh);
      };
      this.#wake = () => {
        if (this.#isOver || !knowsLeader()) end(false);
      };
      void isReady(pipeline).then(end);
    });
  }

  #takeReading(reading: Reading): void {
    const { answer } = reading;
    this.#reading = reading;
    this.#isOutdated = false;
    const { version, stale } = this.#newest?.about ?? {};
    if (answer.about.version === version && answer.about.stale === stale) return;
    this.#options.held(answer.length - (this.#newest?.length ?? 0));
    this.#newest = answer;
    for (const subscriber of [...this.#subscribers]) subscriber.offer(answer);
  }

  /** Hands the answer to the circle that it leads. An answer that is for its caller alone ends the circle. */
  #shareReading(reading: Reading): void {
    const { circles, request } = this.#options;
    const key = reading.rights === undefined ? undefined : circleKey(request, reading.rights);
    if (this.#circle !== key) {
      if (key === undefined && this.#circle !== undefined) circles.dissolve(this.#circle);
      this.#leaveCircle();
    }
    if (key !== undefined && this.#circle === key) circles.share(key, this, reading);
    this.#circle = key;
  }

  #leaveCircle(): void {
    if (this.#circle !== undefined) this.#options.circles.leave(this.#circle, this);
    this.#circle = undefined;
  }

  /** Whether it reads by itself. */
  #leads(): boolean {
    if (this.#circle === undefined) return true;
    const leader = this.#options.circles.join(this.#circle, this);
    if (leader === this) return true;
    // The leader may have shared an answer while this watch was reading an older state.
    if (leader.newest !== undefined && !this.hear(leader.newest)) this.#isDirty = true;
    return false;
  }

  get newest(): Reading | undefined {
    return this.#isDirty || this.#isOutdated ? undefined : this.#reading;
  }

  hear(reading: Reading): boolean {
    if (this.#isDirty || reading.rights === undefined || this.#rightsNow() !== reading.rights) {
      return false;
    }
    // It may have read later than the leader, who then has yet to notice the change.
    if (reading.index >= (this.#reading?.index ?? 0)) this.#takeReading(this.#asOwn(reading));
    return true;
  }

  /** With the rows of its own rights. */
  #asOwn(reading: Reading): Reading {
    return { ...reading, ofCaller: this.#reading?.ofCaller ?? [] };
  }

  stand(): void {
    this.#wake();
  }

  lead(): void {
    this.#takeLead();
  }

  /** `undefined` also for a token that is gone, which the next reading tells. */
  #rightsNow(): string | undefined {
    const { pipeline, request, rights } = this.#options;
    try {
      return rights.nameOf(pipeline.authorizeUpgrade(request, { kind: 'open' }, {}));
    } catch {
      return undefined;
    }
  }

  /** Follows the leader of the circle. Resolves when it has to read by itself. */
  #led(): Promise<void> {
    const { state } = this.#options;
    // The leader remembers for all.
    this.#memory.end();
    return new Promise((resolve) => {
      const end = (): void => {
        for (const watch of watches) watch.cancel();
        this.#wake = () => {};
        this.#takeLead = () => {};
        resolve();
      };
      const leave = (): void => {
        end();
        this.#leaveCircle();
      };
      this.#wake = leave;
      this.#takeLead = end;
      const watches = (this.#reading?.ofCaller ?? []).map((rows) => state.watch(rows, leave));
      if (this.#isDirty || this.#isOver) leave();
    });
  }

  /** Resolves when the answer may be another, or nobody follows it. */
  #changed(sinceMs: number): Promise<void> {
    const { state, world } = this.#options;
    const { clock, timers } = world;
    if (this.#isDirty || this.#isOver) return Promise.resolve();
    return new Promise((resolve) => {
      const { pollIntervalMs, restIntervalMs } = limits.uiStream;
      let timer: Timer | undefined;
      const end = (): void => {
        for (const watch of watches) watch.cancel();
        timer?.clear();
        this.#wake = () => {};
        resolve();
      };
      this.#wake = end;
      const { footprints = [], ofCaller = [], moment = {}, index } = this.#reading ?? {};
      const watches = [...footprints, ...ofCaller].map((rows) => state.watch(rows, end));
      const poll = (): void => {
        const hasMoved = state.read().index !== index;
        if (hasMoved || clock.monotonicMs() - sinceMs >= restIntervalMs) end();
        else timer = timers.after(pollIntervalMs, poll);
      };
      // An answer without a leader, or after a fault, tells nothing of the changes that make it another.
      const isFollowed = watches.length > 0 && !this.#isPassing;
      if (!isFollowed) timer = timers.after(pollIntervalMs, poll);
      else if (moment.atMs !== undefined) {
        const leftMs = Math.max(0, Math.ceil(moment.atMs - clock.nowMs()));
        timer = timers.after(Math.min(leftMs, limits.uiStream.momentWaitMaxMs), end);
      }
    });
  }

  get #isPassing(): boolean {
    const { status = 0, about } = this.#newest ?? {};
    return status >= 500 || status === 429 || about?.stale === true;
  }

  /** Waits for the place in the pace. */
  #awaitTurn(endMs: number): Promise<void> {
    const { pace, world } = this.#options;
    const nowMs = world.clock.monotonicMs();
    const leastMs = limits.uiStream.watchIntervalMs;
    // The first reading finds the rows that later ones follow, so its cost says nothing of theirs.
    const costMs = this.#readings > 1 ? (this.#reading?.meter.usedMs ?? 0) : 0;
    const atMs = pace.next(nowMs, { endMs, costMs, leastMs });
    return new Promise((resolve) => {
      const timer = world.timers.after(atMs - nowMs, () => {
        this.#wake = () => {};
        resolve();
      });
      this.#wake = () => {
        if (!this.#isOver) return;
        timer.clear();
        resolve();
      };
    });
  }
}

/** The answer may name the host and the origin. */
const circleKey = ({ path, query, headers }: Request, rights: string): string =>
  JSON.stringify([path, query, headers.host, headers.origin, rights]);

/** Waits until reads of this server are exact; `false`: they cannot be, as no leader is known. */
async function isReady(pipeline: Pipeline): Promise<boolean> {
  try {
    await pipeline.ready();
    return true;
  } catch {
    return false;
  }
}
