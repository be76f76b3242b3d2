import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { constants } from 'node:os';
import { findSystemUser, type SystemUser } from '../system-user.ts';
import type { FifoPool, OutputPipe } from './fifo-pool.ts';
import { LogWriter } from './log-writer.ts';
import { readStat } from './proc.ts';
import { type ProcessExit, type StartRequest, SupervisorRefusal } from './protocol.ts';
import type { Sweeper } from './sweep.ts';

/** After a task's end its pipes are empty; who keeps one open longer than this is not the task. */
const drainTimeoutMs = 2000;

/** One child process with its output. Lives until the exit is known. */
export class TaskProcess {
  readonly pid: number;
  readonly startTime: string;
  /** Resolves when the process is gone, nothing is left of it and its output is written. */
  readonly exited: Promise<ProcessExit>;

  readonly #child: ChildProcess;
  #killTimer: NodeJS.Timeout | undefined;
  #killAtMs = Number.POSITIVE_INFINITY;

  private constructor(child: ChildProcess, writers: LogWriter[], finish: Finish) {
    this.#child = child;
    this.pid = child.pid!;
    // Not reaped before the event loop turns, so it is there even if it has ended already.
    this.startTime = readStat(this.pid)?.startTime ?? '';
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        clearTimeout(this.#killTimer);
        const exit: ProcessExit = {
          exitCode: code ?? 0,
          signal: signal === null ? 0 : constants.signals[signal],
          timeMs: Date.now(),
        };
        void finish(this.pid, this.startTime, writers).then(() => resolve(exit));
      });
    });
  }

  /** Rejects with {@link SupervisorRefusal} when the process cannot be started. */
  static async start(
    request: StartRequest,
    pool: FifoPool,
    sweeper: Sweeper,
  ): Promise<TaskProcess> {
    const owner = ownerOf(request.user);
    const pipes = request.logs.disabled ? [] : [await pool.take(), await pool.take()];
    const child = await spawnChild(request, pipes, owner);
    // Errors after the start are those of `kill`, which are told by its own answer.
    child.on('error', () => {});
    const sources = [pipes[0]?.output ?? child.stdout, pipes[1]?.output ?? child.stderr];
    const writers = sources.flatMap((source, index) =>
      source ? [new LogWriter(source, request.logs, index === 0 ? 'stdout' : 'stderr')] : [],
    );
    const { allocId, taskName } = request;
    return new TaskProcess(child, writers, async (pid, startTime) => {
      await sweeper.end({ allocId, taskName, pid, startTime });
      await drain(writers);
    });
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Sends a signal to the process itself. `false` when it has ended. */
  signal(signal: string): boolean {
    return this.isRunning && this.#child.kill(signalNumber(signal));
  }

  /** Asks the process to end, and ends its whole group after the timeout. */
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
    // Not reaped yet, so the pid is still this group's.
    if (!this.isRunning) return;
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      this.#child.kill('SIGKILL');
    }
  }
}

type Finish = (pid: number, startTime: string, writers: LogWriter[]) => Promise<void>;

async function drain(writers: readonly LogWriter[]): Promise<void> {
  const timer = setTimeout(() => {
    for (const writer of writers) writer.stop();
  }, drainTimeoutMs);
  await Promise.all(writers.map((writer) => writer.drained));
  clearTimeout(timer);
}

/** The child, once it runs. Whatever happens, the write ends of the pipes are the child's alone. */
async function spawnChild(
  request: StartRequest,
  pipes: readonly (OutputPipe | undefined)[],
  owner: SystemUser | undefined,
): Promise<ChildProcess> {
  const output = (index: number): number | 'pipe' | 'ignore' =>
    request.logs.disabled ? 'ignore' : (pipes[index]?.writeEnd ?? 'pipe');
  try {
    const child = spawn(request.command, [...request.args], {
      cwd: request.directory,
      env: { ...request.env },
      // A session of its own: signals to the group reach all of it and nothing else.
      detached: true,
      stdio: ['ignore', output(0), output(1)],
      ...owner,
    });
    if (child.pid === undefined) await failure(child);
    return child;
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
