import { randomUUID } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { serveExec } from '../../model/exec-session/exec-stream.ts';
import { limits } from '../../model/limits.ts';
import { type ByteStream, StreamFault } from '../../model/node-stream/byte-stream.ts';
import { Cgroup } from './cgroups/cgroup.ts';
import type { ExecCommand, ExecPlan } from './exec-command.ts';
import { startWithPipes } from './exec-pipes.ts';
import { startWithTerminal } from './exec-terminal.ts';
import type { FifoPool } from './fifo-pool.ts';
import { ProcessSession } from './process-session.ts';
import { type ExecRequest, type StartRequest, SupervisorRefusal } from './protocol.ts';
import type { Sweeper, SweepTarget } from './sweep.ts';
import { ownerOf } from './task-process.ts';

/** The settings of a task's start that commands beside it share. */
export interface ExecSurroundings
  extends Pick<StartRequest, 'allocId' | 'taskName' | 'env' | 'directory' | 'user'> {
  readonly cgroups: readonly string[];
}

export interface ExecSessionsOptions {
  readonly pool: FifoPool;
  readonly sweeper: Sweeper;
  /** `undefined` if the task does not run. */
  readonly surroundings: (taskId: string) => ExecSurroundings | undefined;
}

/** The commands that run beside tasks. Each ends with its task at the latest. */
export class ExecSessions {
  readonly #options: ExecSessionsOptions;
  readonly #byTask = new Map<string, Set<ProcessSession>>();
  #count = 0;
  #sweep: Promise<void> | undefined;

  constructor(options: ExecSessionsOptions) {
    this.#options = options;
  }

  /** Runs the command that a stream asks for. Rejects with {@link StreamFault}. */
  async serve(stream: ByteStream, request: ExecRequest): Promise<void> {
    if (this.#count >= limits.exec.sessionsPerNodeMax) throw tooMany();
    this.#count++;
    try {
      const session = await this.#start(request);
      const ofTask = this.#byTask.get(request.taskId) ?? new Set();
      this.#byTask.set(request.taskId, ofTask.add(session));
      void session.gone.then(() => {
        ofTask.delete(session);
        if (ofTask.size === 0) this.#byTask.delete(request.taskId);
      });
      // The task may have ended while the command was started.
      if (this.#options.surroundings(request.taskId) === undefined) session.kill();
      await serveExec(stream, session);
    } finally {
      this.#count--;
    }
  }

  /** After the end of a task. Resolves when nothing is left of the commands beside it. */
  async endOf(taskId: string): Promise<void> {
    const sessions = [...(this.#byTask.get(taskId) ?? [])];
    for (const session of sessions) session.kill();
    await Promise.all(sessions.map(({ gone }) => gone));
  }

  /** A sweep looks at every process of the machine, so commands share sweeps. */
  #nextSweep(): Promise<void> {
    this.#sweep ??= new Promise((resolve) => {
      setTimeout(() => {
        this.#sweep = undefined;
        resolve();
      }, limits.exec.sweepDelayMs);
    });
    return this.#sweep;
  }

  async #start({ taskId, command, tty, via }: ExecRequest): Promise<ProcessSession> {
    const task = this.#options.surroundings(taskId);
    if (task === undefined) throw notRunning();
    const execId = randomUUID();
    const { allocId, taskName } = task;
    const { env = task.env, directory = task.directory, user = task.user } = via ?? {};
    try {
      const rest = { env: { ...env, ROSTER_EXEC_ID: execId }, directory, owner: ownerOf(user) };
      const [program = '', ...args] = [...(via?.prefix ?? []), ...command];
      const start = (one: Program): Promise<ExecCommand> =>
        tty
          ? startWithTerminal({ ...one, ...rest })
          : startWithPipes({ ...one, ...rest }, this.#options.pool);
      const started = await startOrTell(start, () => ({
        program: via === undefined ? findProgram(program, { env, directory }) : program,
        args,
      }));
      const sweep = async (target: SweepTarget): Promise<void> => {
        await this.#nextSweep();
        await this.#options.sweeper.end(target);
      };
      const session = new ProcessSession(started, sweep, { allocId, taskName, execId });
      await joinOrEnd(session, new Cgroup(task.cgroups), started.pid);
      return session;
    } catch (error) {
      if (error instanceof SupervisorRefusal) throw cannotStart(error.message);
      throw error;
    }
  }
}

type Program = Pick<ExecPlan, 'program' | 'args'>;

/**
 * Tells of a command that cannot be started as shells, sandboxes and containers do: with a sentence
 * on the error output and the exit code 127, or 126 for a file that cannot be executed.
 */
async function startOrTell(
  start: (program: Program) => Promise<ExecCommand>,
  find: () => Program,
): Promise<ExecCommand> {
  try {
    return await start(find());
  } catch (error) {
    const exitCode = error instanceof SupervisorRefusal ? exitCodeOf(error.code) : undefined;
    if (exitCode === undefined) throw error;
    const script = 'printf "%s\\n" "$1" >&2; exit "$2"';
    const args = ['-c', script, 'sh', (error as Error).message, exitCode];
    return start({ program: '/bin/sh', args });
  }
}

function exitCodeOf(code: string): string | undefined {
  if (code === 'ENOENT' || code === 'ENOTDIR') return '127';
  return code === 'EACCES' || code === 'ENOEXEC' ? '126' : undefined;
}

/** A command that cannot join the task's control groups is ended. */
async function joinOrEnd(session: ProcessSession, cgroup: Cgroup, pid: number): Promise<void> {
  try {
    await cgroup.join([pid]);
  } catch (error) {
    session.kill();
    session.close();
    throw error;
  }
}

/**
 * The same places as for the task's own command: its `local` directory, its working directory and
 * its PATH. Throws {@link SupervisorRefusal}.
 */
function findProgram(
  name: string,
  {
    env,
    directory,
  }: { readonly env: Readonly<Record<string, string>>; readonly directory: string },
): string {
  const local = [env.ROSTER_TASK_DIR ?? '', directory];
  const path = (env.PATH ?? '').split(':');
  const places = name.includes('/') ? [directory] : [...local, ...path].filter(isAbsolute);
  const candidates = isAbsolute(name) ? [name] : places.map((place) => join(place, name));
  const files = candidates.filter(isFile);
  const found = files.find(isExecutable);
  if (found !== undefined) return found;
  if (files[0] !== undefined) {
    throw new SupervisorRefusal('EACCES', `the command ${files[0]} is not executable`);
  }
  const where = name.includes('/') ? 'does not exist' : `was not found in ${places.join(':')}`;
  throw new SupervisorRefusal('ENOENT', `the command "${name}" ${where}`);
}

const isFile = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const notRunning = (): StreamFault =>
  new StreamFault({ status: 404, code: 'not-running', message: 'the task is not running' });

const cannotStart = (message: string): StreamFault =>
  new StreamFault({ status: 400, code: 'command-not-started', message });

const tooMany = (): StreamFault =>
  new StreamFault({
    status: 429,
    code: 'too-many-sessions',
    message: `${limits.exec.sessionsPerNodeMax} commands run beside tasks already`,
  });
