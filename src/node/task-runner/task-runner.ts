import type { TaskState } from '../../model/allocation/task-state.ts';
import {
  type DriverCommand,
  type DriverExec,
  DriverFailure,
  type DriverHandle,
  type DriverUsage,
  type TaskExit,
} from '../drivers/driver.ts';
import type { TaskControls } from '../hooks/hook.ts';
import { killRun, stopRun, waitShutdownDelay } from './end-run.ts';
import * as events from './events.ts';
import { planNextRun, waitForRestart } from './next-run.ts';
import type { RestartCause } from './restart-policy.ts';
import { RunDirectories } from './run-directories.ts';
import { type Started, startRun } from './start-run.ts';
import type { TaskContext } from './task-context.ts';
import { TaskHooks } from './task-hooks.ts';
import { type SavedTask, TaskRecord } from './task-record.ts';

export interface KillOptions {
  /** The event before the kill itself. */
  readonly reason?: events.EventAt;
  readonly shutdownDelayMs?: number;
}

/** How one run ended, as the loop sees it. */
type RunEnd =
  | RestartCause
  | { readonly kind: 'killed' }
  | { readonly kind: 'left' }
  | { readonly kind: 'again' };

/**
 * Runs one task until it is dead.
 *
 * Invariants
 *  T1. A run's number is on disk before the run is started, so that no agent starts it twice.
 *  T2. Nothing restarts after a kill was asked for.
 *  T3. An exit is acknowledged to the driver only when its consequences are on disk.
 *  T4. After `leave` or `suspend` nothing is changed or reported.
 */
export class TaskRunner {
  readonly #context: TaskContext;
  readonly #record: TaskRecord;
  readonly directories: RunDirectories;
  readonly #kill = new AbortController();
  readonly #leave = new AbortController();
  /** Aborted when no more run will begin here. */
  readonly #over = AbortSignal.any([this.#kill.signal, this.#leave.signal]);
  /** Aborted to skip the shutdown delay of the task. */
  readonly #hurry = new AbortController();
  #hooks: TaskHooks;
  #killOptions: KillOptions = {};
  #restartAsked: { readonly isFailure: boolean } | undefined;
  #failed = false;
  #handle: DriverHandle | undefined;
  #restored = false;
  #loop: Promise<void> | undefined;
  #resetAsked = false;
  #dead = Promise.withResolvers<void>();

  constructor(context: TaskContext, saved?: SavedTask) {
    this.#context = context;
    this.#record = new TaskRecord(context, saved);
    this.directories = new RunDirectories(context);
    this.#hooks = this.#newHooks();
    if (saved === undefined) this.#record.emit(events.received);
    if (this.#record.phase === 'dead') this.#dead.resolve();
  }

  /** Resolves when the task is dead. */
  get whenDead(): Promise<void> {
    return this.#dead.promise;
  }

  get state(): TaskState {
    return this.#record.state;
  }

  get saved(): SavedTask {
    return this.#record.saved;
  }

  /** The run that exists or may exist, or `undefined`. */
  get runId(): string | undefined {
    return this.#record.runId;
  }

  /** The resources that it uses; `undefined`: it does not run, or its driver cannot tell. */
  async usage(): Promise<DriverUsage | undefined> {
    const { runId } = this;
    return runId === undefined ? undefined : this.#context.driver?.usage?.(runId);
  }

  /** Takes up an earlier agent's task: attaches to its run, or waits for the next one. */
  async restore(): Promise<void> {
    this.#restored = true;
    const { runId } = this;
    if (this.#record.phase === 'waiting') this.#begin(undefined);
    if (runId === undefined) return;
    const handle = await this.#context.driver?.recover(runId, this.#noteMessage);
    if (handle !== undefined && this.#record.phase === 'starting') this.#record.noteStarted();
    // The agent before ended during the shutdown delay.
    else if (handle !== undefined) this.#record.change({ State: 'running' });
    if (handle === undefined && this.#record.phase === 'running') {
      this.#record.emit(events.failedRestoring('nothing is known of its process'));
      this.#record.change({ State: 'pending' });
    }
    this.#begin(handle);
  }

  /** Lets the task run. Does nothing when it has begun. */
  start(): void {
    if (this.#record.phase === 'idle' && this.#loop === undefined && !this.#kill.signal.aborted) {
      this.#begin(undefined);
    }
  }

  /** Ends the task finally. Resolves when it is dead. */
  kill(options: KillOptions = {}): Promise<void> {
    if (!this.#kill.signal.aborted && this.#record.phase !== 'dead') {
      this.#killOptions = options;
      if (options.reason !== undefined) this.#record.emit(options.reason);
      this.#kill.abort();
      if (this.#loop === undefined) this.#die(this.#failed);
    }
    return this.whenDead;
  }

  /** Also while the delay lasts. */
  skipShutdownDelay(): void {
    this.#hurry.abort();
  }

  /** Ends the task finally, as failed. */
  fail(event: events.EventAt): void {
    if (this.#kill.signal.aborted || this.#record.phase === 'dead') return;
    this.#failed = true;
    void this.kill({ reason: event });
  }

  /** The controls of the task for hooks of its allocation. */
  get controls(): TaskControls {
    return this.#hooks.controls;
  }

  /** The job was updated in place. */
  updated(): void {
    if (this.#record.phase !== 'dead') this.#hooks.updated();
  }

  /** Ends the present run and begins the next: at once, or, as a failure, by the restart policy. */
  async restart(reason: string, { isFailure = false } = {}): Promise<void> {
    if (this.#handle === undefined) throw new DriverFailure('the task is not running', false);
    const asked = { isFailure };
    this.#restartAsked ??= asked;
    this.#record.emit(events.restartSignaled(reason));
    try {
      await stopRun(this.#context, this.#handle);
    } catch (error) {
      // When the run ends later by itself, that is no restart.
      if (this.#restartAsked === asked) this.#restartAsked = undefined;
      throw error;
    }
  }

  /**
   * Returns the task to the state before its begin, ending the present run if there is one; `start`
   * then begins it anew. This does not count as a failure.
   */
  async reset(reason: string): Promise<void> {
    if (this.#kill.signal.aborted || this.#leave.signal.aborted) return;
    if (this.#record.phase === 'dead') {
      this.#record.phase = 'idle';
      this.#loop = undefined;
      this.#dead = Promise.withResolvers();
      this.#hooks = this.#newHooks();
      this.#record.emit(events.restartSignaled(reason));
      this.#record.change({ State: 'pending', Failed: false, FinishedAt: null });
    } else if (this.#handle !== undefined) {
      this.#resetAsked = true;
      this.#record.emit(events.restartSignaled(reason));
      const loop = this.#loop;
      try {
        await stopRun(this.#context, this.#handle);
      } catch (error) {
        this.#resetAsked = false;
        throw error;
      }
      await loop;
    }
  }

  /** Adds an event that others have observed. */
  note(event: events.EventAt): void {
    if (!this.#leave.signal.aborted) this.#record.emit(event);
  }

  async signal(signal: string, reason: string): Promise<void> {
    if (this.#handle === undefined) throw new DriverFailure('the task is not running', false);
    this.#record.emit(events.signaling(signal, reason));
    await this.#handle.signal(signal);
  }

  /** Runs a command beside the present run. Rejects with `DriverFailure`. */
  async exec(command: DriverCommand): Promise<DriverExec> {
    const { driver } = this.#context;
    if (this.#handle === undefined || driver === undefined) {
      throw new DriverFailure('the task is not running', false);
    }
    if (!driver.capabilities.exec || driver.exec === undefined) {
      const reason = `the driver "${driver.name}" runs no commands beside its tasks`;
      throw new DriverFailure(reason, false);
    }
    return driver.exec(this.#handle.runId, command);
  }

  /** The agent ends, and the task goes on. */
  async leave(): Promise<void> {
    this.#leave.abort();
    await this.#loop;
    if (this.#record.phase !== 'dead') await this.#hooks.close({ isDead: false });
  }

  /** The agent ends, and the task with it; the next agent starts it again. Never rejects. */
  async suspend(): Promise<void> {
    await this.leave();
    const handle = this.#handle;
    if (handle === undefined || this.#record.phase === 'dead') return;
    // A run that could not be stopped here ends with the driver.
    const isStopped = await stopRun(this.#context, handle).then(
      () => true,
      () => false,
    );
    if (!isStopped) return;
    await handle.exited;
    this.#record.setAside();
    await this.#context.save();
    await handle.forget().catch(() => {});
  }

  #newHooks(): TaskHooks {
    return new TaskHooks(this.#context, {
      runId: () => this.#handle?.runId,
      over: this.#over,
      note: (event) => this.note(event),
      restart: (reason, options) => this.restart(reason, options),
      signal: (signal, reason) => this.signal(signal, reason),
      fail: (event) => this.fail(event),
    });
  }

  readonly #noteMessage = (sentence: string): void => this.note(events.driverMessage(sentence));

  /** Begins the loop. A bug in the loop ends the task, and nothing else. */
  #begin(recovered: DriverHandle | undefined): void {
    this.#loop = this.#live(recovered).catch(async (error: Error) => {
      if (this.#record.phase === 'dead') return;
      const handle = this.#handle;
      const isStopping = await handle?.stop('SIGKILL', 0).then(
        () => true,
        () => false,
      );
      if (isStopping) await handle?.exited;
      this.#die(true, events.setupFailure(error.message));
    });
  }

  async #live(recovered: DriverHandle | undefined): Promise<void> {
    let found = recovered;
    if (this.#record.phase === 'waiting')
      await waitForRestart(this.#context, this.#record, this.#over);
    while (!this.#leave.signal.aborted) {
      const end = await this.#runOnce(found);
      found = undefined;
      if (end.kind === 'left') return;
      if (end.kind === 'killed') return this.#die(this.#failed, events.killed());
      if (end.kind === 'again') continue;
      if (!this.#applyPolicy(end)) return;
      await this.#acknowledge();
      await waitForRestart(this.#context, this.#record, this.#over);
    }
  }

  async #runOnce(found: DriverHandle | undefined): Promise<RunEnd> {
    if (found === undefined && this.#kill.signal.aborted) return { kind: 'killed' };
    const start = found ? { kind: 'started' as const, handle: found } : await this.#startRun();
    if (start.kind !== 'started') return start;
    const { handle } = start;
    this.#handle = handle;
    this.#hooks.started({ runId: handle.runId, isRestored: found !== undefined });
    const exit = await this.#watch(handle);
    if (exit === undefined) return { kind: 'left' };
    await this.#hooks.ended();
    const lostAway = exit.lost !== undefined && this.#restored;
    this.#restored = false;
    this.#record.emit(lostAway ? events.failedRestoring(exit.lost ?? '') : events.terminated(exit));
    if (this.#kill.signal.aborted) return { kind: 'killed' };
    if (this.#resetAsked) {
      this.#resetAsked = false;
      this.#restartAsked = undefined;
      this.#record.phase = 'idle';
      this.#record.noteRestart();
      await this.#acknowledge();
      if (this.#kill.signal.aborted) return { kind: 'killed' };
      this.#loop = undefined;
      return { kind: 'left' };
    }
    const asked = this.#restartAsked;
    this.#restartAsked = undefined;
    if (asked?.isFailure) return { kind: 'exit', successful: false };
    if (lostAway || asked !== undefined) {
      this.#record.phase = 'waiting';
      this.#record.restartAtMs = 0;
      this.#record.noteRestart();
      await this.#acknowledge();
      return { kind: 'again' };
    }
    const successful = exit.exitCode === 0 && exit.signal === 0 && exit.lost === undefined;
    return { kind: 'exit', successful };
  }

  /** Starts the next run, or the run that an earlier agent was about to start. */
  async #startRun(): Promise<Started> {
    const [context, record, hooks] = [this.#context, this.#record, this.#hooks];
    const [kill, leave] = [this.#kill.signal, this.#leave.signal];
    // A restored task is not started by its allocation, so it waits here for the hooks.
    if (this.#restored) await Promise.race([context.ready, aborted(kill), aborted(leave)]);
    // The task may be killed much later than the others: it must not start until then.
    if (context.isEnding()) await Promise.race([aborted(kill), aborted(leave)]);
    if (kill.aborted) return { kind: 'killed' };
    if (leave.aborted) return { kind: 'left' };
    record.tracker ??= { count: 0, windowStartMs: context.world.clock.nowMs() };
    if (record.phase !== 'starting') record.run++;
    record.phase = 'starting';
    if (record.run === 1) record.emit(events.taskSetup);
    await context.save();
    return startRun({ context, record, hooks, directories: this.directories, kill, leave });
  }

  /** Resolves with the exit; `undefined`: the agent ends first. Carries out a kill. */
  async #watch(handle: DriverHandle): Promise<TaskExit | undefined> {
    const left = aborted(this.#leave.signal).then(() => undefined);
    const asked = aborted(this.#kill.signal).then(() => 'kill' as const);
    const first = await Promise.race([handle.exited, left, asked]);
    if (first !== 'kill') return first;
    await Promise.race([this.#end(handle), left, handle.exited]);
    return Promise.race([handle.exited, left]);
  }

  async #end(handle: DriverHandle): Promise<void> {
    const [context, record, leave] = [this.#context, this.#record, this.#leave.signal];
    const { shutdownDelayMs: delayMs = 0 } = this.#killOptions;
    await this.#hooks.ending();
    await waitShutdownDelay({ context, record, delayMs, hurry: this.#hurry.signal, leave });
    if (leave.aborted || this.#handle !== handle) return;
    await killRun({ context, record, handle, leave });
  }

  /** Applies the restart policy. `false` when the task is dead. */
  #applyPolicy(cause: RestartCause): boolean {
    const next = planNextRun(this.#context, this.#record, cause);
    if (next.kind === 'dead') this.#die(next.failed, next.event);
    return next.kind === 'restart';
  }

  #die(failed: boolean, event?: events.EventAt): void {
    this.#record.phase = 'dead';
    if (event !== undefined) this.#record.emit(event);
    void this.#hooks.close({ isDead: true });
    this.#record.noteDead(failed);
    void this.#acknowledge();
    this.#dead.resolve();
  }

  /** T3: saves first, then acknowledges to the driver. */
  async #acknowledge(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await this.#context.save();
    await handle?.forget().catch(() => {});
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
