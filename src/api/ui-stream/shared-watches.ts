import type { Timer, World } from '../../base/ports.ts';
import { problemOf, type RosterError, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { difference, type Json } from '../../model/ui-stream/difference.ts';
import type { About } from '../../model/ui-stream/messages.ts';
import type { Footprint, State } from '../../state/types.ts';
import type { Answer, Request } from '../http.ts';
import type { Pipeline } from '../pipeline.ts';
import { textOf } from './body-text.ts';
import { Pace } from './pace.ts';

export interface SharedWatchesOptions {
  readonly pipeline: Pipeline;
  readonly state: State;
  readonly world: Pick<World, 'clock' | 'timers' | 'secrets'>;
}

/** A follower of a watched path. */
export interface Subscriber {
  /** There is a newer answer. */
  offer(answer: WatchedAnswer): void;
}

/** An answer to a watched path, for all who follow that with the same token. */
export class WatchedAnswer {
  readonly status: number;
  /** JSON: the value, or the problem of a refusal. */
  readonly text: string;
  readonly about: About;
  readonly #changes = new WeakMap<WatchedAnswer, string>();
  #value: { readonly json: Json } | undefined;

  constructor(status: number, text: string, about: About) {
    this.status = status;
    this.text = text;
    this.about = about;
  }

  get isValue(): boolean {
    return this.status < 400;
  }

  /** The fields of a message with the whole answer. */
  get whole(): string {
    if (!this.isValue) return `"kind":"refused","problem":${this.text}`;
    return `"kind":"value",${this.#aboutText},"value":${this.text}`;
  }

  get same(): string {
    return `"kind":"same",${this.#aboutText}`;
  }

  /** The fields of a message to a reader of the other answer: the shorter of change and whole. */
  after(before: WatchedAnswer): string {
    let text = this.#changes.get(before);
    if (text === undefined) {
      text = this.#changeTo(before);
      this.#changes.set(before, text);
    }
    return text;
  }

  #changeTo(before: WatchedAnswer): string {
    const { whole } = this;
    if (!this.isValue || !before.isValue) return whole;
    const change = difference(before.#parsed, this.#parsed);
    if (change === undefined) return this.same;
    const text = `"kind":"change",${this.#aboutText},"change":${JSON.stringify(change)}`;
    return text.length < whole.length ? text : whole;
  }

  get #parsed(): Json {
    this.#value ??= { json: JSON.parse(this.text) };
    return this.#value.json;
  }

  get #aboutText(): string {
    return JSON.stringify(this.about).slice(1, -1);
  }
}

/** The watched paths of a thread. DESIGN.md */
export class SharedWatches {
  readonly #options: SharedWatchesOptions;
  readonly #pace = new Pace();
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

  /** Rights have changed: every path is read again. */
  readAgain(): void {
    for (const watch of this.#byKey.values()) watch.readAgain();
  }
}

interface SharedWatchOptions extends SharedWatchesOptions {
  readonly request: Request;
  readonly pace: Pace;
  /** The length of the kept answer has changed by so much. */
  readonly held: (change: number) => void;
}

/** A path that is read again when its answer may have changed, while anybody follows it. */
class SharedWatch {
  readonly #options: SharedWatchOptions;
  readonly #subscribers = new Set<Subscriber>();
  #newest: WatchedAnswer | undefined;
  #footprints: readonly Footprint[] = [];
  #indexRead = 0;
  #costMs = 0;
  #isDirty = false;
  #isOver = false;
  /** Ends the present wait. */
  #wake: () => void = () => {};

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
    if (!this.#isOver) this.#options.held(-(this.#newest?.text.length ?? 0));
    this.#isOver = true;
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
      this.#isDirty = false;
      await this.#read();
      const endMs = clock.monotonicMs();
      await this.#changed(endMs);
      if (!this.#isOver) await this.#awaitTurn(endMs);
    }
  }

  async #read(): Promise<void> {
    const { pipeline, state, world } = this.#options;
    const isFresh = await isReady(pipeline);
    if (this.#isOver) return;
    const startMs = world.clock.monotonicMs();
    this.#footprints = [];
    this.#indexRead = state.read().index;
    const request = this.#requestNow((footprints) => {
      this.#footprints = footprints;
    });
    const answer = await pipeline.handle(request);
    const found = await this.#answerOf(answer, !isFresh);
    if (this.#isOver) return;
    const isNews = found.about.version !== this.#newest?.about.version;
    if (isNews || found.about.stale !== this.#newest?.about.stale) this.#publish(found);
    this.#costMs = world.clock.monotonicMs() - startMs;
  }

  /** This server shows all that is durable already, so the answer needs no further wait. */
  #requestNow(onRead: NonNullable<Request['onRead']>): Request {
    const { request } = this.#options;
    const parameters = new URLSearchParams(request.query);
    parameters.delete('index');
    parameters.delete('wait');
    if (!parameters.has('consistent')) parameters.set('stale', 'true');
    return { ...request, query: `${parameters}`, onRead };
  }

  async #answerOf(answer: Answer, stale: boolean): Promise<WatchedAnswer> {
    const { valueLengthMax } = limits.uiStream;
    const text = await textOf(answer, valueLengthMax);
    if (text === undefined) {
      return this.#answerOfRefusal(
        refusal('watch-too-large', { limit: valueLengthMax, kept: 'a watched path' }),
        stale,
      );
    }
    const header = (name: string) =>
      answer.headers[`x-scheduler-${name}`] ?? answer.headers[`x-registry-${name}`];
    const nextToken = header('nexttoken');
    const total = header('total');
    return new WatchedAnswer(answer.status, text, {
      version: this.#versionOf(`${answer.status} ${nextToken ?? ''} ${total ?? ''} ${text}`),
      index: Number(header('index') ?? this.#indexRead),
      ...(nextToken !== undefined && { nextToken }),
      ...(total !== undefined && { total: Number(total) }),
      stale: stale || header('knownleader') === 'false',
    });
  }

  #answerOfRefusal(refused: RosterError, stale: boolean): WatchedAnswer {
    const text = JSON.stringify(problemOf(refused));
    const version = this.#versionOf(text);
    return new WatchedAnswer(refused.status, text, { version, index: this.#indexRead, stale });
  }

  #versionOf(text: string): string {
    return this.#options.world.secrets.hash(text).slice(0, versionLength);
  }

  #publish(answer: WatchedAnswer): void {
    this.#options.held(answer.text.length - (this.#newest?.text.length ?? 0));
    this.#newest = answer;
    for (const subscriber of [...this.#subscribers]) subscriber.offer(answer);
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
      const watches = this.#footprints.map((footprint) => state.watch(footprint, end));
      const poll = (): void => {
        const hasMoved = state.read().index !== this.#indexRead;
        if (hasMoved || clock.monotonicMs() - sinceMs >= restIntervalMs) end();
        else timer = timers.after(pollIntervalMs, poll);
      };
      // An answer without a leader, or after a fault, tells nothing of the changes that make it another.
      const isFollowed = watches.length > 0 && !this.#isPassing;
      if (!isFollowed) timer = timers.after(pollIntervalMs, poll);
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
    const atMs = pace.next(nowMs, { endMs, costMs: this.#costMs, leastMs });
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

/** Not in limits: enough of a SHA-256 that two answers never share it. */
const versionLength = 32;

/** Waits until reads of this server are exact; `false`: they cannot be, as no leader is known. */
async function isReady(pipeline: Pipeline): Promise<boolean> {
  try {
    await pipeline.ready();
    return true;
  } catch {
    return false;
  }
}
