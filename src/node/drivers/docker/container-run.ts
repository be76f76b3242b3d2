import type { Container, ContainerInspectInfo } from 'dockerode';
import { type Clock, delay, type Timers } from '../../../base/ports.ts';
import { limits } from '../../../model/limits.ts';
import { DriverFailure, type DriverHandle, type TaskExit } from '../driver.ts';
import type { LogCollector } from './log-collector.ts';
import { kernelKilledForMemory } from './oom.ts';
import { type Runtime, RuntimeUnreachable, reasonOf, statusOf } from './runtime.ts';

export interface ContainerRunOptions {
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly runId: string;
  readonly containerId: string;
  /** `undefined`: its output is not collected. */
  readonly logs: LogCollector | undefined;
  readonly unreachableTimeoutMs: number;
  /** Reports a message for the task's user. */
  readonly tell: (sentence: string) => void;
  /** Called when the run is over and recorded, or given up. Must not reject. */
  readonly remove: (containerId: string) => Promise<void>;
}

/**
 * One container from its start to its end.
 *
 * Invariants
 *  K1. `exited` resolves once: with the container's exit, or with `lost` when others removed the
 *      container or the runtime has been unreachable for too long. A lost run is removed as soon as
 *      possible.
 *  K2. A request to stop is carried out once the runtime is back, if it is unreachable.
 *  K3. When `exited` resolves, the task's output is in its log files.
 *  K4. After the runtime was closed, nothing is done or reported.
 */
export class ContainerRun implements DriverHandle {
  readonly runId: string;
  readonly exited: Promise<TaskExit>;
  readonly #options: ContainerRunOptions;
  readonly #over = new AbortController();
  /** The signal to end it, and the time (monotonic clock) at which it is killed. */
  #stop: { readonly signal: string; readonly deadlineMs: number } | undefined;

  constructor(options: ContainerRunOptions) {
    this.runId = options.runId;
    this.#options = options;
    this.exited = this.#live();
  }

  get containerId(): string {
    return this.#options.containerId;
  }

  async signal(signal: string): Promise<void> {
    if (this.#over.signal.aborted) throw new DriverFailure('the task is not running', false);
    await this.#send(signal);
  }

  async stop(signal: string, timeoutMs: number): Promise<void> {
    if (this.#over.signal.aborted) return;
    const { clock, timers } = this.#options;
    const deadlineMs = clock.monotonicMs() + timeoutMs;
    this.#stop = { signal, deadlineMs };
    void delay(timers, timeoutMs, this.#over.signal).then(() => {
      if (!this.#over.signal.aborted && this.#stop?.deadlineMs === deadlineMs) return this.#kill();
    });
    await this.#sendStop(signal);
  }

  async forget(): Promise<void> {
    await this.#options.remove(this.containerId);
  }

  async #sendStop(signal: string): Promise<void> {
    try {
      await this.#send(signal);
    } catch (error) {
      // K2. If the signal could not be sent, the container is killed at the deadline.
      if (!(error instanceof RuntimeUnreachable) && !isOver(error)) throw error;
    }
  }

  async #kill(): Promise<void> {
    await this.#send('SIGKILL').catch(() => {});
  }

  async #send(signal: string): Promise<void> {
    try {
      await this.#onContainer((container) => container.kill({ signal }));
    } catch (error) {
      if (error instanceof DriverFailure) throw error;
      throw new DriverFailure(isOver(error) ? notRunning : reasonOf(error), false);
    }
  }

  #onContainer<T>(act: (container: Container) => Promise<T>): Promise<T> {
    const { runtime, containerId } = this.#options;
    return runtime.call((client) => act(client.getContainer(containerId)));
  }

  async #live(): Promise<TaskExit> {
    const { logs, runtime } = this.#options;
    const exit = await this.#watch();
    if (exit === undefined) return new Promise(() => {});
    this.#over.abort();
    if (exit.lost === undefined) await logs?.finish();
    else await logs?.leave();
    return runtime.closed.aborted ? new Promise(() => {}) : exit;
  }

  /** Resolves with the exit, or with `undefined` when the agent ends first. */
  async #watch(): Promise<TaskExit | undefined> {
    const { runtime, timers, tell } = this.#options;
    for (let tries = 0; !runtime.closed.aborted; tries++) {
      try {
        const abortSignal = runtime.closed;
        await this.#onContainer((container) => container.wait({ abortSignal }));
        const found = await this.#onContainer((container) => container.inspect());
        if (hasEnded(found)) return await this.#exitOf(found);
      } catch (error) {
        if (runtime.closed.aborted) return undefined;
        if (statusOf(error) === 404)
          return this.#lostExit('the container was removed by somebody else');
        if (error instanceof RuntimeUnreachable) {
          tell(error.message);
          const givenUp = await this.#outlast();
          if (givenUp !== undefined) return givenUp;
        } else if (tries === 0) tell(`the container cannot be watched: ${reasonOf(error)}`);
      }
      await delay(timers, limits.docker.logRetryMs / 4, runtime.closed);
    }
    return undefined;
  }

  /** Waits for the runtime to come back. Resolves with a lost exit when that takes too long. */
  async #outlast(): Promise<TaskExit | undefined> {
    const { runtime, timers, clock, tell, unreachableTimeoutMs, remove } = this.#options;
    const sinceMs = runtime.awaySinceMs ?? clock.monotonicMs();
    const enough = new AbortController();
    const waitMs = Math.max(0, sinceMs + unreachableTimeoutMs - clock.monotonicMs());
    const timer = timers.after(waitMs, () => enough.abort());
    await runtime.whenReturned(AbortSignal.any([enough.signal, runtime.closed]));
    timer.clear();
    if (runtime.closed.aborted) return undefined;
    if (runtime.awaySinceMs !== undefined) {
      void remove(this.containerId);
      return this.#lostExit('the container runtime did not answer for too long');
    }
    tell('the container runtime answers again');
    const stop = this.#stop;
    if (stop === undefined) return undefined;
    if (clock.monotonicMs() >= stop.deadlineMs) await this.#kill();
    else await this.#sendStop(stop.signal).catch(() => {});
    return undefined;
  }

  async #exitOf({ Id, State }: ContainerInspectInfo): Promise<TaskExit> {
    const { ExitCode: exitCode, OOMKilled, FinishedAt, Error: fault } = State;
    const oomKilled =
      OOMKilled === true || (exitCode === killedCode && (await kernelKilledForMemory(Id)));
    const finishedMs = Date.parse(FinishedAt);
    // For a container that never ran this is the year 1.
    const timeMs = finishedMs > 0 ? finishedMs : this.#options.clock.nowMs();
    const exit = { exitCode, signal: 0, timeMs, oomKilled };
    return State.Status === 'created' && fault ? { ...exit, lost: fault } : exit;
  }

  #lostExit(lost: string): TaskExit {
    return { exitCode: 0, signal: 0, timeMs: this.#options.clock.nowMs(), lost };
  }
}

const notRunning = 'the task is not running';
const killedCode = 137;

const hasEnded = ({ State }: ContainerInspectInfo): boolean =>
  !State.Running && !State.Restarting && !State.Paused && State.Status !== 'stopping';

/** Whether the runtime says that the container does not run. */
const isOver = (error: unknown): boolean =>
  statusOf(error) === 404 ||
  statusOf(error) === 409 ||
  /not running|no such process|can only kill running|already finished|container has already been removed/i.test(
    reasonOf(error),
  );
