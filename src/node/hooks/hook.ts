/**
 * The steps around the runs of a task and around an allocation, one file each beside this one, in
 * the order of docs/behaviour/client.md#setup. The runners know these interfaces and no hook by
 * name.
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

/** The actions of a hook on its task. */
export interface TaskControls {
  /** The run that exists, or `undefined`. */
  readonly runId: () => string | undefined;
  /** Aborted when no more run will begin here: the task ends, or the agent does. */
  readonly over: AbortSignal;
  note(event: EventAt): void;
  /** Ends the present run and begins the next. `isFailure`: it counts against the restart policy. */
  restart(reason: string, options?: { readonly isFailure?: boolean }): Promise<void>;
  /** Rejects with `DriverFailure`. */
  signal(signal: string, reason: string): Promise<void>;
  /** Ends the task finally, as failed. */
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
  /** The owner of its files; `undefined`: the agent's user. */
  readonly owner: () => SystemUser | undefined;
  /** The environment of the next run, with the variables that hooks have added so far. */
  readonly environment: () => TaskEnvironment;
}

export interface StartedRun {
  readonly runId: string;
  /** The run was found by an agent that took it up. */
  readonly isRestored: boolean;
}

/**
 * Invariants
 *  H1. Before a run `beforeStart` of every hook is called, in order; after it `ended` of every
 *      hook.
 *  H2. `close` comes last, once, and nothing is called after it.
 *  H3. A slow hook never keeps its task from being killed.
 */
export interface TaskHook {
  readonly name: string;
  /**
   * Called before each run. Resolves with variables for this run and later ones. Rejects with
   * {@link HookFailure}; any other error is a set-up failure that may pass.
   */
  beforeStart?(): Promise<Readonly<Record<string, string>> | undefined>;
  /** Volumes for the run, asked for after `beforeStart` of every hook. */
  volumes?(): readonly DriverVolume[];
  started?(run: StartedRun): void;
  /** Called before a kill, and before the shutdown delay. Awaited; must not reject. */
  ending?(): Promise<void>;
  /** Called after a run, however it ended. Awaited; must not reject. */
  ended?(): Promise<void>;
  updated?(): void;
  /** The task is dead, or the agent ends. Releases memory and timers. */
  close?(options: { readonly isDead: boolean }): Promise<void>;
}

/** Makes a hook for a task, without other effects; `undefined` when the task needs none. */
export type TaskHookFactory = (context: TaskHookContext) => TaskHook | undefined;

/** Why a run cannot begin, for the user. */
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
  /** The user of its tasks that name none; `undefined`: the agent's user. */
  readonly ownUser: () => SystemUser | undefined;
  /** The environment of a task, or of the allocation when none is named. */
  readonly environment: (task?: string) => TaskEnvironment;
  readonly controls: (task: string) => TaskControls | undefined;
  /** Makes the directories of a task before its first run. Resolves with whether it had none. */
  readonly makeTaskDirectories: (task: string, owner: SystemUser | undefined) => Promise<boolean>;
  /** The allocation's health has to be judged again. */
  readonly changed: () => void;
  readonly onNotice: (sentence: string) => void;
}

/** A reason besides the tasks' states that keeps an allocation from being healthy. */
export interface Unready {
  readonly task: string;
  /** The beginning of a sentence that goes on "by the healthy_deadline of …". */
  readonly lack: string;
}

/** A hook for a whole allocation. Only `beforeStart` may reject. */
export interface AllocationHook {
  readonly name: string;
  /**
   * Called before the tasks start, and when an agent takes up an allocation, whose tasks may run
   * already. A rejection fails all tasks with its message.
   */
  beforeStart?(signal: AbortSignal): Promise<void>;
  updated?(): void;
  changed?(): void;
  /** Called before the first task is asked to end. Awaited. */
  ending?(): Promise<void>;
  /** Asked at each judgement on health, if the job waits for checks. */
  unready?(): readonly Unready[];
  /** All tasks are dead, or the agent ends. */
  close?(options: { readonly isDone: boolean }): Promise<void>;
}

export type AllocationHookFactory = (context: AllocationHookContext) => AllocationHook | undefined;
