import { type StreamKnown, unknownStream } from '../../model/peering/state.ts';
import type { Mutable, PeeringStream } from './stream.ts';

interface Entry {
  readonly known: Mutable<StreamKnown>;
  stream: PeeringStream | undefined;
}

/** The open streams, and a record of the last stream of each peering, by its id. */
export class PeeringStreams {
  readonly #entries = new Map<string, Entry>();
  readonly #awaited = new Map<string, Set<() => void>>();

  /** The record of a stream, which the stream updates. */
  record(id: string): Mutable<StreamKnown> {
    return this.#entry(id).known;
  }

  known(id: string): StreamKnown {
    return this.#entries.get(id)?.known ?? unknownStream;
  }

  of(id: string): PeeringStream | undefined {
    return this.#entries.get(id)?.stream;
  }

  /** Makes a stream in the place of the previous one, which is ended: it is surely dead. */
  replace(id: string, make: (known: Mutable<StreamKnown>) => PeeringStream): PeeringStream {
    const entry = this.#entry(id);
    entry.stream?.end('the peer connected again');
    const stream = make(entry.known);
    entry.stream = stream;
    void stream.ended.then(() => {
      if (entry.stream === stream) entry.stream = undefined;
    });
    for (const wake of this.#awaited.get(id) ?? []) wake();
    return stream;
  }

  /** Resolves when a stream is open, or `signal` aborts. */
  opened(id: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted || this.of(id) !== undefined) return resolve();
      const wakes = this.#awaited.get(id) ?? new Set();
      const done = () => {
        signal.removeEventListener('abort', done);
        wakes.delete(done);
        if (wakes.size === 0) this.#awaited.delete(id);
        resolve();
      };
      wakes.add(done);
      this.#awaited.set(id, wakes);
      signal.addEventListener('abort', done);
    });
  }

  forget(id: string): void {
    this.of(id)?.end('the peering is no more');
    this.#entries.delete(id);
  }

  /** The number of open streams. */
  get size(): number {
    let count = 0;
    for (const { stream } of this.#entries.values()) if (stream !== undefined) count++;
    return count;
  }

  all(): readonly PeeringStream[] {
    return [...this.#entries.values()].flatMap(({ stream }) => stream ?? []);
  }

  #entry(id: string): Entry {
    let entry = this.#entries.get(id);
    if (entry === undefined) {
      entry = { known: { ...unknownStream }, stream: undefined };
      this.#entries.set(id, entry);
    }
    return entry;
  }
}
