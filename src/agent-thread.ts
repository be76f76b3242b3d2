/** A thread of an agent, as the main thread has it: a reader (`agent-readers.ts`) or the decider (`agent-deciding.ts`). */
import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { Timer, World } from './base/ports.ts';
import { ThreadCounts } from './base/thread-counts.ts';
import { watchThread } from './base/thread-watch.ts';
import { mebibyte, secondMs } from './base/units.ts';
import type { Log } from './server/context.ts';
import { readerLimits } from './server/readers/limits.ts';
import { type ThreadEnds, ThreadFault } from './server/readers/thread-ends.ts';

/** The message that asks a thread whether it takes messages. It answers in `ThreadCounts`. */
export const beat = { kind: 'beat' } as const;
export type Beat = typeof beat;

/** Data of every thread. */
export interface ThreadData {
  readonly counts: SharedArrayBuffer;
}

export interface AgentThreadOptions {
  readonly noun: 'reader' | 'decider';
  /** Worker data that only this kind of thread gets. */
  readonly data: object;
  /** It counts as hung if it answers none of so many beats. */
  readonly silentBeats: number;
  readonly world: Pick<World, 'timers'>;
  readonly log: Log;
  /** Counts its end, unless the end was wanted. */
  readonly ends: ThreadEnds;
}

/**
 * Invariants
 *  A1. A thread that has hung is ended, and so is known to have ended like any other. No thread counts as hung while a
 *      debugger may hold it.
 *  A2. A thread that cannot be ended is told: only a new process frees its part of the port.
 */
export class AgentThread {
  readonly worker: Worker;
  /** Resolves with the reason, if it is known. */
  readonly ended: Promise<Error | undefined>;
  readonly #options: AgentThreadOptions;
  readonly #counts = new ThreadCounts();
  #fault: Error | undefined;
  #isWanted = false;
  #late: Timer | undefined;

  constructor(options: AgentThreadOptions) {
    const { noun, data, silentBeats, world, ends } = options;
    this.#options = options;
    // In the published package the program is a bundle beside this one.
    const name = import.meta.url.endsWith('.ts') ? `./agent-${noun}.ts` : `./${noun}.js`;
    const worker = new Worker(new URL(name, import.meta.url), {
      workerData: { ...data, counts: this.#counts.memory } satisfies ThreadData,
      // By default a thread gets a smaller heap than the main thread.
      resourceLimits: {
        maxOldGenerationSizeMb: Math.floor(getHeapStatistics().heap_size_limit / mebibyte),
      },
    });
    this.worker = worker;
    const stopWatch = watchThread({
      ...world,
      beatMs: readerLimits.beatMs,
      silentBeats,
      firstBeats: readerLimits.firstBeats,
      ask: () => worker.postMessage(beat),
      answered: () => this.#counts.answered,
      isHeld: () => process.getBuiltinModule('node:inspector').url() !== undefined,
      hung: () => this.#endHung(),
    });
    this.ended = new Promise((resolve) => {
      worker.once('error', (error) => {
        this.#fault ??= error as Error;
      });
      worker.once('exit', () => {
        stopWatch();
        this.#late?.clear();
        if (!this.#isWanted) ends.note(noun, this.#fault);
        resolve(this.#fault);
      });
    });
  }

  /** Bytes that it has taken so far. */
  taken(): number {
    return this.#counts.taken;
  }

  /** Ends it. Without a fault the end is wanted. */
  end(fault?: ThreadFault): void {
    this.#fault ??= fault;
    this.#isWanted ||= fault === undefined;
    void this.worker.terminate();
  }

  /** A1, A2. */
  #endHung(): void {
    const { noun, silentBeats, world, log } = this.#options;
    const seconds = (silentBeats * readerLimits.beatMs) / secondMs;
    this.end(
      new ThreadFault('hung', `it has hung: it has taken no message for ${seconds} s or more`),
    );
    this.#late = world.timers.after(readerLimits.endMs, () =>
      log.error({ thread: noun }, 'a thread that has hung cannot be ended: restart the agent'),
    );
  }
}
