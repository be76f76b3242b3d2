/**
 * What is done around the runs of a task, and around an allocation: one file each beside this one,
 * in the order of docs/behaviour/client.md#setup. The runners know these forms and no hook by name.
 */
import type { World } from '../../base/ports.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { TaskState } from '../../model/allocation/task-state.ts';
import type { Job } from '../../model/job/job.ts';
import type { Task } from '../../model/task/task.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import type { AllocationDirectories, TaskDirectories } from '../directories.ts';
import type { Driver, DriverVolume } from '../drivers/driver.ts';
import type { TaskEnvironment } from '../environment/environment.ts';
import type { SystemUser } from '../system-user.ts';
import type { EventAt } from '../task-runner/events.ts';

/** What a hook may do with the task that it belongs to. */
export interface TaskControls {
  /** The run that exists, or `undefined`. */
  readonly runId: () => string | undefined;
  /** Aborted once no run will begin any more here: the task ends, or the agent leaves it. */
  readonly over: AbortSignal;
  note(event: EventAt): void;
  /** Ends the present run and begins the next. `isFailure`: it counts against the restart policy. */
  restart(reason: string, options?: { readonly isFailure?: boolean }): Promise<void>;
  /** Rejects with `DriverFailure`. */
  signal(signal: string, reason: string): Promise<void>;
  /** Ends the task for good, as failed. */
  fail(event: EventAt): void;
}

export interface TaskHookContext extends TaskControls {
  readonly world: Pick<World, 'clock' | 'timers' | 'random'>;
  readonly driver: Driver | undefined;
  readonly directories: TaskDirectories;
  readonly allocation: () => Allocation;
  readonly job: () => Job;
  /** As of the newest update in place. */
  readonly task: () => Task;
  /** Who its files are to belong to; `undefined`: the agent's user. */
  readonly owner: () => SystemUser | undefined;
  /** What the next run gets, with what hooks have added so far. */
  readonly environment: () => TaskEnvironment;
}

export interface StartedRun {
  readonly runId: string;
  /** It was found running by an agent that took it up. */
  readonly isRestored: boolean;
}

/**
 * Invariants
 *  H1. Before a run `beforeStart` is called of every hook in order; after it `ended` of every hook.
 *  H2. `close` comes last, once, and nothing is called after it.
 *  H3. A hook that takes its time never keeps its task from being killed.
 */
export interface TaskHook {
  readonly name: string;
  /**
   * Before each run. Resolves with variables that the runs get from now on. Rejects with
   * {@link HookFailure}; any other error is a set-up failure that may pass.
   */
  beforeStart?(): Promise<Readonly<Record<string, string>> | undefined>;
  /** What the run gets of the node besides, asked after `beforeStart` of every hook. */
  volumes?(): readonly DriverVolume[];
  started?(run: StartedRun): void;
  /** The task is going to be killed, before its shutdown delay. Awaited; must not reject. */
  ending?(): Promise<void>;
  /** The run is over, however it ended. Awaited; must not reject. */
  ended?(): Promise<void>;
  /** The job was updated in place. */
  updated?(): void;
  /** The task is dead, or the agent leaves it. Lets go of what is in memory. */
  close?(options: { readonly isDead: boolean }): Promise<void>;
}

/** A hook for this task, or `undefined` when the task has no use for it. To make one does nothing. */
export type TaskHookFactory = (context: TaskHookContext) => TaskHook | undefined;

/** Why a run cannot begin, as the user reads it. */
export class HookFailure extends Error {
  override readonly name = 'HookFailure';
  readonly event: EventAt;
  /** Whether another try may succeed without a change of the job. */
  readonly recoverable: boolean;

  constructor(event: EventAt, message: string, recoverable: boolean) {
    super(message);
    this.event = event;
    this.recoverable = recoverable;
  }
}

export interface AllocationHookContext {
  readonly id: string;
  readonly world: Pick<World, 'clock' | 'timers' | 'random'>;
  readonly dataDirectory: string;
  readonly directories: AllocationDirectories;
  readonly allocation: () => Allocation;
  readonly job: () => Job;
  readonly group: () => TaskGroup;
  readonly states: () => Readonly<Record<string, TaskState>>;
  /** Who its tasks are that name no user; `undefined`: the agent's. */
  readonly ownUser: () => SystemUser | undefined;
  /** References as a task sees them, without the task's own variables when none is named. */
  readonly environment: (task?: string) => TaskEnvironment;
  readonly controls: (task: string) => TaskControls | undefined;
  /** The allocation's health is to be looked at anew. */
  readonly changed: () => void;
  readonly onNotice: (sentence: string) => void;
}

/** What keeps an allocation from being healthy besides its tasks' states. */
export interface Unready {
  readonly task: string;
  /** The beginning of a sentence that goes on "by the healthy_deadline of …". */
  readonly lack: string;
}

/** The same for a whole allocation. Nothing but `beforeStart` may reject. */
export interface AllocationHook {
  readonly name: string;
  /**
   * Before its tasks start; also when an agent takes up an allocation, whose tasks may run already.
   * A rejection fails all tasks with its sentence.
   */
  beforeStart?(signal: AbortSignal): Promise<void>;
  /** The servers' newest word on it. */
  updated?(): void;
  /** The state of a task has changed. */
  changed?(): void;
  /** Before the first task is asked to end. Awaited. */
  ending?(): Promise<void>;
  /** Asked whenever its health is looked at, where its job has it wait for checks. */
  unready?(): readonly Unready[];
  /** All tasks are dead, or the agent leaves. */
  close?(options: { readonly isDone: boolean }): Promise<void>;
}

export type AllocationHookFactory = (context: AllocationHookContext) => AllocationHook | undefined;
