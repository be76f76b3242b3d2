/** What every way to run a task offers. Source: docs/behaviour/client.md#drivers. */
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
   * and `/secrets`, which is what its variables say.
   */
  readonly fileSystemIsolation: 'none' | 'chroot' | 'image';
  readonly networkModes: readonly ('host' | 'group' | 'task' | 'none')[];
}

export interface DriverFingerprint {
  readonly detected: boolean;
  readonly healthy: boolean;
  /** A sentence: why it is absent or unhealthy. */
  readonly description: string;
  /** Under `driver.<name>.`. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** What a task was given of its node. */
export interface DriverResources {
  readonly cpuMhz: number;
  /** Whole cores of its own, by number. */
  readonly cores: readonly number[];
  readonly memoryMb: number;
  /** What it may use while there is memory to spare; 0: no more than `memoryMb`. */
  readonly memoryMaxMb: number;
}

/** A port of the allocation. `to` is the port inside, where that is another; else 0. */
export interface DriverPort {
  readonly label: string;
  readonly value: number;
  readonly to: number;
  readonly hostIp: string;
}

/**
 * A directory of the node that the task is to see.
 * Source: docs/behaviour/job-specification.md#volume-mounts.
 */
export interface DriverVolume {
  /** As the node offers it. */
  readonly name: string;
  /** On the host; absolute. */
  readonly source: string;
  /** As the task sees it; absolute, normalized, and in no other volume of the task. */
  readonly destination: string;
  readonly isReadOnly: boolean;
  readonly propagation: 'private' | 'host-to-task' | 'bidirectional';
  readonly seLinuxLabel: '' | 'z' | 'Z';
}

/** One run of a task, all references resolved. */
export interface DriverTask {
  /** Names this run for ever: starting it twice starts it once. */
  readonly runId: string;
  readonly allocId: string;
  readonly namespace: string;
  readonly jobId: string;
  readonly groupName: string;
  readonly taskName: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** Paths in them are as the task sees them, see `DriverCapabilities.fileSystemIsolation`. */
  readonly variables: Readonly<Record<string, string>>;
  /** On the host. */
  readonly directories: TaskDirectories;
  readonly resources: DriverResources;
  readonly ports: readonly DriverPort[];
  /** Absent: none. None either where there is no isolation of files. */
  readonly volumes?: readonly DriverVolume[];
  /** By name; empty: the driver's own choice. */
  readonly user: string;
  /** Instead: that of its allocation alone, which has no name on the machine. */
  readonly ownUser?: SystemUser;
  readonly logs: LogSettings;
  /** Told what the task's user should know: it becomes an event of the task. */
  readonly tell?: (sentence: string) => void;
  /** Aborted once nobody wants this run: a start that is under way is to reject soon. */
  readonly over?: AbortSignal;
}

/** A command to run beside a task, where the task runs. */
export interface DriverCommand {
  /** The program and its arguments; not empty. */
  readonly command: readonly string[];
  /** With a terminal: its error output is part of the output. */
  readonly tty: boolean;
}

/** A command that runs beside a task. It ends with the task at the latest. */
export type DriverExec = ExecSession;

/** What a run uses now. */
export type DriverUsage = CountedUsage;

/** A run that was started. It stays valid when the agent is replaced: `recover` finds it. */
export interface DriverHandle {
  readonly runId: string;
  /** Resolves when the task has ended and its output is written. */
  readonly exited: Promise<TaskExit>;
  /** Rejects with {@link DriverFailure} when it cannot be sent. */
  signal(signal: string): Promise<void>;
  /** Asks the task to end, and ends it after the timeout. Resolves when that is under way. */
  stop(signal: string, timeoutMs: number): Promise<void>;
  /** The exit is dealt with: nothing needs to be kept of this run. */
  forget(): Promise<void>;
}

export interface Driver {
  readonly name: string;
  readonly capabilities: DriverCapabilities;
  /** For a task that names none. */
  readonly defaultKillSignal: string;
  /** The same; absent or empty: the agent's own. */
  readonly defaultUser?: string;
  /** Rather than that user, such a task is one of its allocation's own, where the node has those. */
  readonly usesOwnUser?: boolean;
  /** How often its fingerprint may be another; absent: never while the agent runs. */
  readonly refreshMs?: number;
  fingerprint(): Promise<DriverFingerprint>;
  /** All faults of a task's `Config`; pointers are relative to it. */
  validate(config: Readonly<Record<string, unknown>>): readonly Fault[];
  /** Rejects with {@link DriverFailure}. */
  start(task: DriverTask): Promise<DriverHandle>;
  /** A run of an earlier agent, running or ended, or `undefined` when nothing is known of it. */
  recover(runId: string, tell?: (sentence: string) => void): Promise<DriverHandle | undefined>;
  /** Only where `capabilities.exec`. Rejects with {@link DriverFailure}. */
  exec?(runId: string, command: DriverCommand): Promise<DriverExec>;
  /** What a run uses, or `undefined` when it is over. */
  usage?(runId: string): Promise<DriverUsage | undefined>;
  /** Ends the runs of earlier agents that nobody claims. */
  endUnclaimed(claimed: ReadonlySet<string>): Promise<void>;
  /** Ends every run at once. Must not reject. */
  killAll?(): Promise<void>;
  /** The agent goes; its runs go on unless they are to end with it. Must not reject. */
  close?(): Promise<void>;
}

/** Why a driver could not do what it was asked. */
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
