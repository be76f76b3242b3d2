import { problemOf, RosterError, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Request } from '../http.ts';
import type { SharedWatches, Subscriber } from './shared-watches.ts';
import type { WatchedAnswer } from './watched-answer.ts';

/** The watches of a connection. */
export class UiWatches {
  readonly #shared: SharedWatches;
  /** Names the caller and the origin of all its requests. */
  readonly #key: string;
  readonly #send: (text: string) => void;
  readonly #onRefused: (answer: { readonly status: number; readonly body: string }) => void;
  readonly #byId = new Map<number, UiWatch>();
  #heldLength = 0;

  constructor(options: {
    readonly shared: SharedWatches;
    readonly key: string;
    readonly send: (text: string) => void;
    /** A refusal that may mean the end of the connection. */
    readonly onRefused: (answer: { readonly status: number; readonly body: string }) => void;
  }) {
    this.#shared = options.shared;
    this.#key = options.key;
    this.#send = options.send;
    this.#onRefused = options.onRefused;
  }

  has(id: number): boolean {
    return this.#byId.has(id);
  }

  /** `has`: the version of the value that the browser has. */
  begin(id: number, makeRequest: () => Request, has: string): void {
    try {
      const { watchesPerConnectionMax: limit, heldLengthMax } = limits.uiStream;
      if (this.#byId.size >= limit) {
        throw refusal('too-many-ui-requests', { limit, kind: 'watches' });
      }
      if (this.#shared.heldLength > heldLengthMax) {
        throw refusal('watch-too-large', { limit: heldLengthMax, kept: 'all watches' });
      }
      const request = makeRequest();
      const watch = new UiWatch({
        has,
        send: (fields) => this.#send(`{"id":${id},${fields}}`),
        hold: (change) => this.#holdLength(change),
        onRefused: this.#onRefused,
      });
      this.#byId.set(id, watch);
      watch.end = this.#shared.follow(this.#key, request, watch);
    } catch (error) {
      if (!(error instanceof RosterError)) throw error;
      this.#byId.delete(id);
      this.#send(JSON.stringify({ kind: 'refused', id, problem: problemOf(error) }));
    }
  }

  acknowledge(id: number): void {
    const watch = this.#byId.get(id);
    if (watch?.isBehind === true) this.#shared.measure(() => watch.acknowledge());
    else watch?.acknowledge();
  }

  end(id: number): void {
    this.#byId.get(id)?.leave();
    this.#byId.delete(id);
  }

  endAll(): void {
    for (const id of [...this.#byId.keys()]) this.end(id);
  }

  /** Whether there is room. */
  #holdLength(change: number): boolean {
    if (this.#heldLength + change > limits.uiStream.heldPerConnectionLengthMax) return false;
    this.#heldLength += change;
    return true;
  }
}

interface UiWatchOptions {
  readonly has: string;
  readonly send: (fields: string) => void;
  readonly hold: (change: number) => boolean;
  readonly onRefused: (answer: { readonly status: number; readonly body: string }) => void;
}

/** The next answer is sent when the browser has acknowledged the last one, so a slow browser skips some. */
class UiWatch implements Subscriber {
  readonly #options: UiWatchOptions;
  /** The answer that the browser has. */
  #sent: WatchedAnswer | undefined;
  #newest: WatchedAnswer | undefined;
  #isUnacknowledged = false;
  #isOver = false;
  end: () => void = () => {};

  constructor(options: UiWatchOptions) {
    this.#options = options;
  }

  offer(answer: WatchedAnswer): void {
    this.#newest = answer;
    if (!this.#isUnacknowledged && !this.#isOver) this.#sendNewest(answer);
  }

  /** Whether there is an answer that the browser was too slow for. */
  get isBehind(): boolean {
    return this.#newest !== this.#sent;
  }

  acknowledge(): void {
    this.#isUnacknowledged = false;
    if (this.#newest !== undefined && this.isBehind) this.offer(this.#newest);
  }

  leave(): void {
    this.#isOver = true;
    this.#options.hold(-(this.#sent?.length ?? 0));
    this.end();
  }

  #sendNewest(answer: WatchedAnswer): void {
    const { send, hold, has, onRefused } = this.#options;
    const before = this.#sent;
    if (!hold(answer.length - (before?.length ?? 0))) {
      const limit = limits.uiStream.heldPerConnectionLengthMax;
      const problem = problemOf(refusal('watch-too-large', { limit, kept: 'a connection' }));
      send(`"kind":"refused","problem":${JSON.stringify(problem)}`);
      return;
    }
    this.#sent = answer;
    this.#isUnacknowledged = true;
    if (before !== undefined) send(answer.after(before));
    else send(answer.isValue && answer.about.version === has ? answer.same : answer.whole);
    if (!answer.isValue) onRefused({ status: answer.status, body: answer.text });
  }
}
