/** Durations in processor time of this thread, without the work of others on the machine. */
import { openSync, readSync } from 'node:fs';
import { limits } from './limits.ts';
import { percentile } from './statistics.ts';

/** The thread's own time in milliseconds. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Milliseconds that one run takes, warm: the median of batches that are each long enough for the
 * coarse clock of the processor. Pauses of the garbage collector count where they fall.
 */
export function warmMs(work: () => unknown): number {
  const { warmUpMs, batches, batchMs } = limits.warmWork;
  const aboutMs = warmedUp(work, warmUpMs);
  const runs = Math.max(1, Math.ceil(batchMs / Math.max(aboutMs, 0.001)));
  return percentile(
    Array.from({ length: batches }, () => meanMs(work, runs)),
    50,
  );
}

/** Milliseconds of one run, as far as one can tell after this long. */
function warmedUp(work: () => unknown, durationMs: number): number {
  const startMs = threadMs();
  let runs = 0;
  while (threadMs() - startMs < durationMs) {
    work();
    runs++;
  }
  return (threadMs() - startMs) / runs;
}

function meanMs(work: () => unknown, runs: number): number {
  const startMs = threadMs();
  for (let run = 0; run < runs; run++) work();
  return (threadMs() - startMs) / runs;
}

/** How long the main thread was ready and had no processor, since it began. */
export class ProcessorWaits {
  readonly #file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  readonly #buffer = Buffer.alloc(64);

  /** Milliseconds, exact. Linux tells nanoseconds, in the second of three numbers. */
  get ms(): number {
    const length = readSync(this.#file, this.#buffer, 0, this.#buffer.length, 0);
    return Number(this.#buffer.toString('latin1', 0, length).split(' ')[1]) / 1e6;
  }
}

/**
 * How long the loop of this thread was held at the most, without what the thread waited for a
 * processor. Looks every millisecond, which is part of it.
 */
export class LoopWatch {
  readonly #waits = new ProcessorWaits();
  #timer: NodeJS.Timeout | undefined;
  #longestMs = 0;

  begin(): void {
    this.#longestMs = 0;
    let last = this.#readTimes();
    this.#timer = setInterval(() => {
      const now = this.#readTimes();
      const heldMs = now.atMs - last.atMs - (now.waitedMs - last.waitedMs);
      this.#longestMs = Math.max(this.#longestMs, heldMs);
      last = now;
    }, 1);
  }

  /** Milliseconds. */
  end(): number {
    clearInterval(this.#timer);
    return this.#longestMs;
  }

  #readTimes() {
    return { atMs: performance.now(), waitedMs: this.#waits.ms };
  }
}
