/** What every way to run a task offers. Source: facts/scheduler.md §7.7, DESIGN §7. */
import type { Fault } from '../../model/errors.ts';
import type { LogSettings, ProcessExit } from '../supervisor/protocol.ts';

export type TaskExit = ProcessExit;

export interface DriverCapabilities {
  readonly sendSignals: boolean;
  readonly exec: boolean;
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

/** One run of a task, all references resolved. */
export interface DriverTask {
  /** Names this run for ever: starting it twice starts it once. */
  readonly runId: string;
  readonly allocId: string;
  readonly taskName: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly variables: Readonly<Record<string, string>>;
  readonly directory: string;
  readonly localDirectory: string;
  readonly user: string;
  readonly logs: LogSettings;
}

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
  fingerprint(): Promise<DriverFingerprint>;
  /** All faults of a task's `Config`; pointers are relative to it. */
  validate(config: Readonly<Record<string, unknown>>): readonly Fault[];
  /** Rejects with {@link DriverFailure}. */
  start(task: DriverTask): Promise<DriverHandle>;
  /** A run of an earlier agent, running or ended, or `undefined` when nothing is known of it. */
  recover(runId: string): Promise<DriverHandle | undefined>;
  /** Ends the runs of earlier agents that nobody claims. */
  endUnclaimed(claimed: ReadonlySet<string>): Promise<void>;
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
