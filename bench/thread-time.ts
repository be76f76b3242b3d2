/** Durations in processor time of this thread, without other work of the machine. */
import { openSync, readSync } from 'node:fs';
import { limits } from './limits.ts';
import { percentile } from './statistics.ts';

/** Processor time of the thread in milliseconds. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Milliseconds of a run after a warm-up: the median of batches that are long enough for the coarse clock of
 * processor time. The pauses of the garbage collector count.
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

/** Milliseconds of a run, estimated from this long a measurement. */
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

/** How long the main thread has waited for a processor since it began. */
export class ProcessorWaits {
  readonly #file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  readonly #buffer = Buffer.alloc(64);

  /** Milliseconds; Linux reports nanoseconds in the second of three numbers. */
  get ms(): number {
    const length = readSync(this.#file, this.#buffer, 0, this.#buffer.length, 0);
    return Number(this.#buffer.toString('latin1', 0, length).split(' ')[1]) / 1e6;
  }

  /** A clock in milliseconds that stands still meanwhile. */
  get clockMs(): number {
    return performance.now() - this.ms;
  }
}

/**
 * The longest time for which the loop of this thread was held, without the waits of the thread for a
 * processor. It checks every millisecond, so the result includes up to a millisecond of waiting.
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
