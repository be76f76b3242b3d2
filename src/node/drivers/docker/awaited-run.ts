import type { Clock, Timers } from '../../../base/ports.ts';
import type { DriverHandle, TaskExit } from '../driver.ts';
import { type Runtime, RuntimeUnreachable } from './runtime.ts';

export interface AwaitedRunOptions {
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly runId: string;
  readonly unreachableTimeoutMs: number;
  readonly tell: (sentence: string) => void;
  readonly find: () => Promise<DriverHandle | undefined>;
  readonly remove: () => Promise<void>;
}

/**
 * A run of an earlier agent, while the runtime does not answer at the start of this agent. Once the
 * runtime is back it is taken up, unless that takes too long: then it is lost.
 */
export class AwaitedRun implements DriverHandle {
  readonly runId: string;
  readonly exited: Promise<TaskExit>;
  readonly #options: AwaitedRunOptions;
  #found: DriverHandle | undefined;
  #stop: { readonly signal: string; readonly deadlineMs: number } | undefined;

  constructor(options: AwaitedRunOptions) {
    this.runId = options.runId;
    this.#options = options;
    this.exited = this.#live();
  }

  async signal(signal: string): Promise<void> {
    if (this.#found === undefined) throw new RuntimeUnreachable('it has not been back yet');
    await this.#found.signal(signal);
  }

  async stop(signal: string, timeoutMs: number): Promise<void> {
    this.#stop = { signal, deadlineMs: this.#options.clock.monotonicMs() + timeoutMs };
    await this.#found?.stop(signal, timeoutMs);
  }

  async forget(): Promise<void> {
    await this.#options.remove();
  }

  async #live(): Promise<TaskExit> {
    const { runtime, timers, clock, unreachableTimeoutMs, remove, find } = this.#options;
    const enough = new AbortController();
    const timer = timers.after(unreachableTimeoutMs, () => enough.abort());
    const over = AbortSignal.any([enough.signal, runtime.closed]);
    while (this.#found === undefined && !over.aborted) {
      await runtime.whenReturned(over);
      if (over.aborted) break;
      try {
        this.#found = await find();
        if (this.#found === undefined) return this.#lostExit('nothing is known of its container');
      } catch {
        // The runtime is unreachable again.
      }
    }
    timer.clear();
    if (runtime.closed.aborted) return new Promise(() => {});
    if (this.#found === undefined) {
      void remove();
      return this.#lostExit('the container runtime did not answer for too long');
    }
    const { signal, deadlineMs } = this.#stop ?? {};
    if (signal !== undefined) {
      const leftMs = Math.max(0, deadlineMs! - clock.monotonicMs());
      await this.#found.stop(signal, leftMs).catch(() => {});
    }
    return this.#found.exited;
  }

  #lostExit(lost: string): TaskExit {
    return { exitCode: 0, signal: 0, timeMs: this.#options.clock.nowMs(), lost };
  }
}
