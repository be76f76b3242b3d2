/** The interface of all ways to run a task. Source: docs/behaviour/client.md#drivers. */
import type { Fault } from '../../model/errors.ts';
import type { ExecSession } from '../../model/exec-session/exec-session.ts';
import type { TaskDirectories } from '../directories.ts';
import type { CountedUsage } from '../supervisor/cgroups/usage.ts';
import type { LogSettings, ProcessExit } from '../supervisor/protocol.ts';
import type { SystemUser } from '../system-user.ts';

export type TaskExit = ProcessExit;

export interface DriverCapabilities {
  readonly sendSignals: boolean;
  readonly exec: boolean;
  /**
   * `none`: the task sees the host's paths. Otherwise it sees its directories as `/alloc`, `/local`
   * and `/secrets`, and its variables name these.
   */
  readonly fileSystemIsolation: 'none' | 'chroot' | 'image';
  readonly networkModes: readonly ('host' | 'group' | 'task' | 'none')[];
}

export interface DriverFingerprint {
  readonly detected: boolean;
  readonly healthy: boolean;
  /** Why it is absent or unhealthy, as a sentence. */
  readonly description: string;
  /** Under `driver.<name>.`. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** The resources of the node that the task was given. */
export interface DriverResources {
  readonly cpuMhz: number;
  /** Whole cores of its own, by number. */
  readonly cores: readonly number[];
  readonly memoryMb: number;
  /** The most that it may use while memory is free; 0: no more than `memoryMb`. */
  readonly memoryMaxMb: number;
}

/** A port of the allocation. `to` is the port inside if it differs, else 0. */
export interface DriverPort {
  readonly label: string;
  readonly value: number;
  readonly to: number;
  readonly hostIp: string;
}

/**
 * A directory of the node to mount in the task.
 * Source: docs/behaviour/job-specification.md#volume-mounts.
 */
export interface DriverVolume {
  /** The name under which the node offers it. */
  readonly name: string;
  /** On the host; absolute. */
  readonly source: string;
  /** The path in the task: absolute, normalized, and in no other volume of the task. */
  readonly destination: string;
  readonly isReadOnly: boolean;
  readonly propagation: 'private' | 'host-to-task' | 'bidirectional';
  readonly seLinuxLabel: '' | 'z' | 'Z';
}

/** One run of a task, all references resolved. */
export interface DriverTask {
  /** Names this run for ever: a second start with the same id starts nothing. */
  readonly runId: string;
  readonly allocId: string;
  readonly namespace: string;
  readonly jobId: string;
  readonly groupName: string;
  readonly taskName: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** Paths in them are those that the task sees: `DriverCapabilities.fileSystemIsolation`. */
  readonly variables: Readonly<Record<string, string>>;
  /** Paths on the host. */
  readonly directories: TaskDirectories;
  readonly resources: DriverResources;
  readonly ports: readonly DriverPort[];
  /** Always absent for drivers without isolation of files. */
  readonly volumes?: readonly DriverVolume[];
  /** The user's name; empty: the driver's default. */
  readonly user: string;
  /** Used instead of `user`: the allocation's own user, which has no name on the machine. */
  readonly ownUser?: SystemUser;
  readonly logs: LogSettings;
  /** Reports a message for the task's user, as an event of the task. */
  readonly tell?: (sentence: string) => void;
  /** Aborted when the run is no longer wanted: then a pending start must reject soon. */
  readonly over?: AbortSignal;
}

/** A command to run beside a task, in the task's surroundings. */
export interface DriverCommand {
  /** The program and its arguments; not empty. */
  readonly command: readonly string[];
  /** Whether it gets a terminal; then its error output is part of the output. */
  readonly tty: boolean;
}

/** A command that runs beside a task. It ends with the task at the latest. */
export type DriverExec = ExecSession;

/** The resources that a run uses now. */
export type DriverUsage = CountedUsage;

/** A run that was started. It stays valid when the agent is replaced: `recover` finds it. */
export interface DriverHandle {
  readonly runId: string;
  /** Resolves when the task has ended and its output is written. */
  readonly exited: Promise<TaskExit>;
  /** Rejects with {@link DriverFailure} when the signal cannot be sent. */
  signal(signal: string): Promise<void>;
  /** Asks the task to end, and kills it after the timeout. Does not wait for the end. */
  stop(signal: string, timeoutMs: number): Promise<void>;
  /** The exit is recorded: the driver may forget this run. */
  forget(): Promise<void>;
}

export interface Driver {
  readonly name: string;
  readonly capabilities: DriverCapabilities;
  /** For tasks that name none. */
  readonly defaultKillSignal: string;
  /** For tasks that name none. Absent or empty: the agent's user. */
  readonly defaultUser?: string;
  /** Such tasks run as their allocation's own user instead, if the node gives allocations users. */
  readonly usesOwnUser?: boolean;
  /** How often to repeat the fingerprint. Absent: it does not change while the agent runs. */
  readonly refreshMs?: number;
  fingerprint(): Promise<DriverFingerprint>;
  /** All faults of a task's `Config`; pointers are relative to it. */
  validate(config: Readonly<Record<string, unknown>>): readonly Fault[];
  /** A run is being prepared, and `start` may follow within milliseconds. */
  expectStart?(): void;
  /** Rejects with {@link DriverFailure}. */
  start(task: DriverTask): Promise<DriverHandle>;
  /** Finds a run of an earlier agent, running or ended; `undefined`: the run is unknown. */
  recover(runId: string, tell?: (sentence: string) => void): Promise<DriverHandle | undefined>;
  /** Present if `capabilities.exec`. Rejects with {@link DriverFailure}. */
  exec?(runId: string, command: DriverCommand): Promise<DriverExec>;
  /** The resources that a run uses, or `undefined` when it is over. */
  usage?(runId: string): Promise<DriverUsage | undefined>;
  /** Ends the runs of earlier agents that nobody claims. */
  endUnclaimed(claimed: ReadonlySet<string>): Promise<void>;
  /** Ends every run at once. Must not reject. */
  killAll?(): Promise<void>;
  /** The agent ends; the runs go on unless they must end with it. Must not reject. */
  close?(): Promise<void>;
}

/** A driver's refusal or failure. */
export class DriverFailure extends Error {
  override readonly name = 'DriverFailure';
  /** Whether another try may succeed without a change of the job. */
  readonly recoverable: boolean;

  constructor(message: string, recoverable: boolean) {
    super(message);
    this.recoverable = recoverable;
  }
}

/** Drivers by name. */
export type Drivers = ReadonlyMap<string, Driver>;
