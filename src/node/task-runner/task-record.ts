import { formatInstant, instantFromMs } from '../../base/instant.ts';
import { withTaskEvent } from '../../model/allocation/allocation-rules.ts';
import { pendingTask } from '../../model/allocation/task-event.ts';
import type { TaskState } from '../../model/allocation/task-state.ts';
import { type EventAt, started } from './events.ts';
import type { RestartTracker } from './restart-policy.ts';
import { runIdOf, type TaskContext } from './task-context.ts';

/**
 * idle      not yet allowed to run, or stopped with the agent and to be started again
 * starting  run number `run` is on disk and may exist
 * running   run number `run` exists
 * waiting   the next run begins at `restartAtMs`
 * dead      over; never leaves this phase
 */
export type TaskPhase = 'idle' | 'starting' | 'running' | 'waiting' | 'dead';

export interface SavedTask {
  readonly state: TaskState;
  readonly phase: TaskPhase;
  readonly run: number;
  readonly tracker: RestartTracker | null;
  readonly restartAtMs: number;
}

const fresh: SavedTask = {
  state: pendingTask,
  phase: 'idle',
  run: 0,
  tracker: null,
  restartAtMs: 0,
};

/** The state of one task, which reports each of its changes. The runner decides on the changes. */
export class TaskRecord {
  phase: TaskPhase;
  run: number;
  tracker: RestartTracker | null;
  restartAtMs: number;
  readonly #context: TaskContext;
  #state: TaskState;

  constructor(context: TaskContext, saved: SavedTask | undefined) {
    this.#context = context;
    // Damage on disk must show here, and not look like a new task.
    const { state, phase, run, tracker, restartAtMs } = saved === undefined ? fresh : saved;
    this.#state = state;
    this.phase = phase;
    this.run = run;
    this.tracker = tracker;
    this.restartAtMs = restartAtMs;
  }

  get state(): TaskState {
    return this.#state;
  }

  get saved(): SavedTask {
    const { state, phase, run, tracker, restartAtMs } = this;
    return { state, phase, run, tracker, restartAtMs };
  }

  /** The run that exists or may exist, or `undefined`. */
  get runId(): string | undefined {
    const { allocId, task } = this.#context;
    const exists = this.phase === 'running' || this.phase === 'starting';
    return exists ? runIdOf(allocId, task().Name, this.run) : undefined;
  }

  emit(event: EventAt): void {
    this.change({}, event);
  }

  change(fields: Partial<TaskState>, event?: EventAt): void {
    const changed = { ...this.#state, ...fields };
    const time = instantFromMs(this.#context.world.clock.nowMs());
    this.#state = event === undefined ? changed : withTaskEvent(changed, event(time));
    this.#context.changed();
  }

  /**
   * The run exists. A restarted task keeps the instant of its first start. An agent that comes before this is saved finds the
   * run by its number, which is on disk, and takes its own instant for that of the start.
   */
  noteStarted(): void {
    this.phase = 'running';
    const StartedAt = this.#state.StartedAt ?? this.#now();
    this.change({ State: 'running', StartedAt }, started);
    this.#context.saveSoon();
  }

  /** The task waits for a run that counts as a restart. */
  noteRestart(): void {
    const { Restarts } = this.#state;
    this.change({ State: 'pending', Restarts: Restarts + 1, LastRestart: this.#now() });
  }

  noteDead(failed: boolean): void {
    this.change({ State: 'dead', Failed: failed, FinishedAt: this.#now() });
  }

  /** The next agent will start the task again. This agent reports nothing more. */
  setAside(): void {
    this.phase = 'idle';
    this.#state = { ...this.#state, State: 'pending' };
  }

  #now(): string {
    return formatInstant(this.#context.world.clock.nowMs());
  }
}
