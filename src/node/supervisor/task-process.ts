import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { constants } from 'node:os';
import { allDefences, type Defences } from '../defences.ts';
import { findSystemUser, type SystemUser } from '../system-user.ts';
import type { Births } from './cgroups/births.ts';
import { type Cgroup, makeCgroup } from './cgroups/cgroup.ts';
import type { CgroupPlan } from './cgroups/plan.ts';
import type { FifoPool, OutputPipe } from './fifo-pool.ts';
import { holdStill, joinHeld } from './held.ts';
import { HeldOutputs } from './held-outputs.ts';
import { outputLimits } from './limits.ts';
import { newestLogs } from './log-files.ts';
import { LogWriter } from './log-writer.ts';
import { PipeReader } from './pipe-reader.ts';
import { isAlive, readStat } from './proc.ts';
import {
  firstSignal,
  type LogSettings,
  type ProcessExit,
  type StartRequest,
  SupervisorRefusal,
} from './protocol.ts';
import { Sandbox, sandboxed, sandboxFailed } from './sandbox.ts';
import type { Sweeper, SweepTarget } from './sweep.ts';

const lent = (fd: number): PipeReader => new PipeReader(fd);

interface Belongings {
  /** Identifies its processes. */
  readonly marks: Pick<SweepTarget, 'allocId' | 'taskName'>;
  readonly outputs: HeldOutputs;
  readonly writers: readonly LogWriter[];
  readonly cgroup: Cgroup | undefined;
  readonly sandbox: Sandbox | undefined;
  /** Whether it began in its groups. */
  readonly isInside: boolean;
  /** Whether it must not run outside its groups. */
  readonly isRequired: boolean;
}

export interface ProcessParts {
  readonly pool: FifoPool;
  readonly sweeper: Sweeper;
  readonly births: Births;
  readonly defences?: Defences | undefined;
}

/** One child process with its output, until its exit is known. */
export class TaskProcess {
  readonly pid: number;
  readonly startTime: string;
  /** Resolves when the process is gone, nothing is left of it and its output is written. */
  readonly exited: Promise<ProcessExit>;

  readonly #child: ChildProcess;
  readonly #target: SweepTarget;
  readonly #cgroup: Cgroup | undefined;
  readonly #sandbox: Sandbox | undefined;
  readonly #isInside: boolean;
  readonly #isRequired: boolean;
  #killTimer: NodeJS.Timeout | undefined;
  #killAtMs = Number.POSITIVE_INFINITY;

  private constructor(child: ChildProcess, belongings: Belongings, finish: Finish) {
    this.#child = child;
    this.#cgroup = belongings.cgroup;
    this.#sandbox = belongings.sandbox;
    this.#isInside = belongings.isInside;
    this.#isRequired = belongings.isRequired;
    this.pid = child.pid!;
    // The child is not reaped before the event loop turns, so it is there even if it has ended.
    this.startTime = readStat(this.pid)?.startTime ?? '';
    const { marks, outputs } = belongings;
    const { allocId, taskName } = marks;
    const [pid, startTime] = [this.pid, this.startTime];
    this.#target = { allocId, taskName, pid, startTime, outputs: outputs.ids };
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        clearTimeout(this.#killTimer);
        const timeMs = Date.now();
        const number = signal === null ? 0 : constants.signals[signal];
        void this.#exit(code ?? firstSignal + number, number).then(async (exit) => {
          await finish(this.#target);
          resolve({ ...exit, timeMs });
        });
      });
    });
  }

  /**
   * Makes the process, which is held until `begin`. Rejects with {@link SupervisorRefusal} when it
   * cannot be started.
   */
  static async start(
    request: StartRequest,
    { pool, sweeper, births, defences = allDefences }: ProcessParts,
  ): Promise<TaskProcess> {
    const owner = ownerOf(request.user);
    const pipes = request.logs.disabled ? [] : [await pool.take(lent), await pool.take(lent)];
    const cgroup = cgroupOf(request.cgroup, pipes);
    const outputs = new HeldOutputs(pipes.flatMap((pipe) => pipe?.writeEnd ?? []));
    const groups = cgroup && request.cgroup;
    const spawned = spawnChild(request, pipes, { owner, groups, births });
    const { child, sandbox, isInside } = await spawned.catch(async (error) => {
      outputs.release();
      await cgroup?.remove();
      throw error;
    });
    // Errors after the start come from `kill`, which reports them itself.
    child.on('error', () => {});
    const writers = request.logs.disabled ? [] : writersOf(child, pipes, request.logs, defences);
    const isRequired = sandbox !== undefined || request.cgroup?.isRequired === true;
    const marks = request;
    const belongings = { marks, outputs, writers, cgroup, sandbox, isInside, isRequired };
    return new TaskProcess(child, belongings, async (target) => {
      cgroup?.kill();
      await sweeper.end(target);
      outputs.release();
      await drain(writers);
      await leave(cgroup);
    });
  }

  /**
   * Puts it into its control groups and lets it run. Rejects with {@link SupervisorRefusal} when it
   * must not run; then it has ended.
   */
  async begin(): Promise<void> {
    const isRequired = this.#isRequired;
    try {
      if (this.#sandbox === undefined) {
        if (this.#isInside) return;
        if (this.#cgroup !== undefined) await joinHeld(this.#target, this.#cgroup);
        return;
      }
      const waiting = await this.#sandbox.waiting();
      if (!this.#isInside) await this.#cgroup?.join(waiting);
      await this.#sandbox.begin();
    } catch (error) {
      // A process that has ended needs no limits.
      const hasEnded = !this.isRunning;
      if (!isRequired || (hasEnded && this.#sandbox === undefined)) return;
      this.#killGroup();
      await this.exited;
      if (error instanceof SupervisorRefusal) throw error;
      if (hasEnded) throw sandboxFailed();
      const { code = 'unknown', message } = error as NodeJS.ErrnoException;
      throw new SupervisorRefusal(code, `the task could not be put under its limits: ${message}`);
    }
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Sends a signal to the process itself, which may be in a sandbox. `false` when it has ended. */
  signal(signal: string): boolean {
    const number = signalNumber(signal);
    if (!this.isRunning) return false;
    if (this.#sandbox === undefined) return this.#child.kill(number);
    const { inside } = this.#sandbox;
    if (inside === undefined || !isAlive(inside.command, inside.commandStartTime)) return false;
    try {
      return process.kill(inside.command, number);
    } catch {
      return false;
    }
  }

  /** Asks the process to end, and kills all its processes after the timeout. */
  kill(signal: string, timeoutMs: number): void {
    if (!this.isRunning) return;
    const killAtMs = performance.now() + timeoutMs;
    if (this.#killAtMs === Number.POSITIVE_INFINITY) this.signal(signal);
    if (killAtMs >= this.#killAtMs) return;
    this.#killAtMs = killAtMs;
    clearTimeout(this.#killTimer);
    this.#killTimer = setTimeout(() => this.#killGroup(), timeoutMs);
  }

  #killGroup(): void {
    // The process is not reaped yet, so the number is still its group's.
    if (!this.isRunning) return;
    this.#cgroup?.kill();
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      this.#child.kill('SIGKILL');
    }
  }

  async #exit(exitCode: number, signal: number): Promise<Omit<ProcessExit, 'timeMs'>> {
    const told = (await this.#sandbox?.exit(exitCode, signal)) ?? { exitCode, signal };
    const oomKilled = exitCode !== 0 && (this.#cgroup?.oomKills() ?? 0) > 0;
    return { ...told, ...(oomKilled && { oomKilled }) };
  }
}

/** The writers of a child's output to its log files. */
function writersOf(
  child: ChildProcess,
  pipes: readonly (OutputPipe<PipeReader> | undefined)[],
  logs: LogSettings,
  defences: Defences,
): LogWriter[] {
  const newest = newestLogs(logs.directory, logs.name, defences);
  return (['stdout', 'stderr'] as const).flatMap((stream, index) => {
    const source = pipes[index]?.output ?? child[stream];
    const parts = { defences, newest: newest.then((files) => files[index]!) };
    return source ? [new LogWriter(source, logs, stream, parts)] : [];
  });
}

type Finish = (target: SweepTarget) => Promise<void>;

/** Throws {@link SupervisorRefusal} after closing the pipes. */
function cgroupOf(
  plan: CgroupPlan | undefined,
  pipes: readonly (OutputPipe<PipeReader> | undefined)[],
): Cgroup | undefined {
  try {
    return plan && makeCgroup(plan);
  } catch (error) {
    if (plan?.isRequired !== true) return undefined;
    for (const pipe of pipes) {
      pipe?.output.destroy();
      if (pipe !== undefined) closeSync(pipe.writeEnd);
    }
    const { code = 'unknown', message } = error as NodeJS.ErrnoException;
    throw new SupervisorRefusal(code, `the task's limits could not be set: ${message}`);
  }
}

async function leave(cgroup: Cgroup | undefined): Promise<void> {
  const left = (await cgroup?.remove()) ?? 0;
  if (left === 0) return;
  process.stderr.write(`${left} processes in ${cgroup?.paths[0]} could not be killed\n`);
}

async function drain(writers: readonly LogWriter[]): Promise<void> {
  const timer = setTimeout(() => {
    for (const writer of writers) writer.stop();
  }, outputLimits.drainTimeoutMs);
  await Promise.all(writers.map((writer) => writer.drained));
  clearTimeout(timer);
}

interface Origin {
  readonly owner: SystemUser | undefined;
  /** Groups that are made. */
  readonly groups: CgroupPlan | undefined;
  readonly births: Births;
}

type Spawned = Pick<Belongings, 'sandbox' | 'isInside'> & { readonly child: ChildProcess };

/** Starts the child. In any case this process closes its write ends of the pipes. */
async function spawnChild(
  request: StartRequest,
  pipes: readonly (OutputPipe<PipeReader> | undefined)[],
  { owner, groups, births }: Origin,
): Promise<Spawned> {
  const inside = request.sandbox && sandboxed(request.sandbox, request);
  const output = (index: number): number | 'pipe' | 'ignore' =>
    request.logs.disabled ? 'ignore' : (pipes[index]?.writeEnd ?? 'pipe');
  try {
    const [command, args] = [inside?.command ?? request.command, inside?.args ?? request.args];
    const options: SpawnOptions = {
      cwd: inside === undefined ? request.directory : '/',
      env: inside === undefined ? { ...request.env } : {},
      // A new session, so that signals to the group reach this task and nothing else.
      detached: true,
      stdio: ['ignore', output(0), output(1), ...(inside?.stdio ?? [])],
      ...owner,
    };
    const { child, isInside } = births.bear(groups, () => spawn(command, [...args], options));
    if (child.pid === undefined) await failure(child);
    else if (groups !== undefined && !isInside && inside === undefined) holdStill(child.pid);
    const sandbox = inside && new Sandbox(child, request.sandbox!, inside.options);
    return { child, sandbox, isInside };
  } catch (error) {
    for (const pipe of pipes) pipe?.output.destroy();
    throw startFailure(request.command, error as NodeJS.ErrnoException);
  } finally {
    for (const pipe of pipes) if (pipe !== undefined) closeSync(pipe.writeEnd);
  }
}

export function startFailure(
  command: string,
  { code = 'unknown', message }: NodeJS.ErrnoException,
): SupervisorRefusal {
  const reason = code === 'ENOENT' ? 'no such file or directory' : message;
  return new SupervisorRefusal(code, `${command} could not be started: ${reason}`);
}

const failure = (child: ChildProcess): Promise<never> =>
  new Promise((_resolve, reject) => child.once('error', reject));

/** Throws {@link SupervisorRefusal} for a name that is no signal. */
function signalNumber(name: string): number {
  const number = constants.signals[name as NodeJS.Signals];
  if (number === undefined) {
    throw new SupervisorRefusal('unknown-signal', `"${name}" is not a signal of this system`);
  }
  return number;
}

/** Throws {@link SupervisorRefusal} for a user that this machine does not know. */
export function ownerOf(user: string): SystemUser | undefined {
  if (user === '') return undefined;
  const owner = findSystemUser(user);
  if (owner !== undefined) return owner;
  throw new SupervisorRefusal('unknown-user', `there is no user "${user}" on this machine`);
}
