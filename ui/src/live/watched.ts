import type { Problem } from '../../../src/model/errors.ts';
import { applied, type Json } from '../../../src/model/ui-stream/difference.ts';
import type { About, ServerMessage } from '../../../src/model/ui-stream/messages.ts';
import type { WatchListener } from './live.ts';

type OfWatch = ServerMessage & { readonly kind: 'value' | 'change' | 'same' | 'refused' };

/** A path that the page follows, with all who listen to it. */
export class Watched {
  readonly path: string;
  id: number;
  readonly #listeners = new Set<WatchListener<unknown>>();
  #value: { readonly json: Json; readonly about: About; readonly receivedMs: number } | undefined;
  #problem: Problem | undefined;

  constructor(path: string, id: number) {
    this.path = path;
    this.id = id;
  }

  /** The version of the value; empty: there is none. */
  get version(): string {
    return this.#value?.about.version ?? '';
  }

  get isIdle(): boolean {
    return this.#listeners.size === 0;
  }

  add(listener: WatchListener<unknown>): () => void {
    this.#listeners.add(listener);
    // A listener is never called before `watch` has returned.
    queueMicrotask(() => {
      if (!this.#listeners.has(listener)) return;
      if (this.#problem !== undefined) listener.refused(this.#problem);
      else if (this.#value !== undefined) this.#tellValue(listener);
    });
    return () => this.#listeners.delete(listener);
  }

  forget(): void {
    this.#value = undefined;
    this.#problem = undefined;
  }

  /** `false`: the message is for a value that is not here, so the watch has to begin again. */
  take(message: OfWatch, nowMs: number): boolean {
    if (message.kind === 'refused') {
      this.#problem = message.problem;
      // The next value comes whole.
      this.#value = undefined;
      for (const listener of [...this.#listeners]) listener.refused(message.problem);
      return true;
    }
    const before = this.#value?.json;
    const json = jsonOf(message, before);
    if (json === undefined) {
      this.#value = undefined;
      return false;
    }
    const { version, index, nextToken, total, stale } = message;
    const about = {
      version,
      index,
      stale,
      ...(nextToken !== undefined && { nextToken }),
      ...(total !== undefined && { total }),
    };
    this.#value = { json, about, receivedMs: nowMs };
    this.#problem = undefined;
    for (const listener of [...this.#listeners]) this.#tellValue(listener);
    return true;
  }

  #tellValue(listener: WatchListener<unknown>): void {
    const { json, about, receivedMs } = this.#value!;
    const { index, nextToken, total, stale } = about;
    listener.value(json, { index, nextToken, total, stale, receivedMs });
  }
}

/** `undefined`: it cannot be made of the value before. */
function jsonOf(message: Exclude<OfWatch, { kind: 'refused' }>, before?: Json): Json | undefined {
  if (message.kind === 'value') return message.value;
  if (before === undefined) return undefined;
  if (message.kind === 'same') return before;
  try {
    return applied(before, message.change);
  } catch {
    return undefined;
  }
}
