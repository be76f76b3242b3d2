import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { limits } from '../../model/limits.ts';
import { StreamConnection } from '../../model/node-stream/stream-connection.ts';
import type { Defences } from '../defences.ts';
import { Births } from './cgroups/births.ts';
import { Cgroup } from './cgroups/cgroup.ts';
import { GroupMoves } from './cgroups/group-moves.ts';
import { readCgroupLayout } from './cgroups/layout.ts';
import { ExecSessions, type ExecSurroundings } from './exec-sessions.ts';
import { FifoPool } from './fifo-pool.ts';
import { orphanLimits } from './limits.ts';
import { makePrivateDirectory, type SupervisorPaths } from './paths.ts';
import {
  type ExecRequest,
  type ExitEvent,
  type Hello,
  lineReader,
  type Numbered,
  type ProcessExit,
  protocolVersion,
  type Request,
  type StartRequest,
  SupervisorRefusal,
  type TaskStatus,
} from './protocol.ts';
import { say } from './say.ts';
import { socketMessages } from './socket-messages.ts';
import { StartTurns } from './start-turns.ts';
import { Sweeper, sweep } from './sweep.ts';
import { TaskProcess } from './task-process.ts';
import { readTable, writeTable } from './task-table.ts';

export interface SupervisorOptions {
  readonly paths: SupervisorPaths;
  /** Ends all tasks and itself when the agent's connection closes. */
  readonly endWithAgent: boolean;
  /** How long it stays with no task and no agent. */
  readonly idleTimeoutMs: number;
  readonly onEnd: () => void;
  /** Called whenever a task has started, ended or been forgotten. */
  readonly onChange?: () => void;
  readonly defences?: Defences;
}

interface Entry {
  status: TaskStatus;
  process?: TaskProcess;
  started: Promise<TaskStatus>;
  /** Resolves when its exit is in the table; absent until it has started. */
  ended?: Promise<void>;
  /** For commands beside the task; absent once it has ended. */
  surroundings?: ExecSurroundings;
}

/** The process that owns the tasks of one agent. Invariants: DESIGN.md. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #sweeper = new Sweeper();
  readonly #starts = new StartTurns();
  readonly #births = new Births();
  #moves: GroupMoves | undefined;
  readonly #pool: FifoPool;
  readonly #sessions: ExecSessions;
  readonly #server: Server;
  #agent: Socket | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #saveTimer: NodeJS.Timeout | undefined;
  #ending = false;
  #saving: Promise<void> | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    makePrivateDirectory(options.paths.directory);
    makePrivateDirectory(dirname(options.paths.socket));
    this.#pool = new FifoPool(options.paths.directory);
    this.#sessions = new ExecSessions({
      pool: this.#pool,
      sweeper: this.#sweeper,
      surroundings: (taskId) => {
        const entry = this.#entries.get(taskId);
        return entry?.process === undefined ? undefined : entry.surroundings;
      },
    });
    this.#server = createServer((socket) => this.#connect(socket));
  }

  /** Ends the tasks of a predecessor, then takes requests. */
  async listen(): Promise<void> {
    await this.#inherit();
    const { socket } = this.#options.paths;
    rmSync(socket, { force: true });
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(socket, resolve);
    });
    chmodSync(socket, 0o600);
    this.#watchIdle();
    void this.#pool.fill();
  }

  /** Ends all tasks, then the supervisor itself. */
  async end(signal: string, timeoutMs: number): Promise<void> {
    this.#ending = true;
    const running = [...this.#entries.values()].filter(({ status }) => status.exit === undefined);
    await Promise.all(
      running.map(async (entry) => {
        await entry.started.catch(() => {});
        entry.process?.kill(signal, timeoutMs);
        await entry.ended;
      }),
    );
    await this.#pool.settled();
  }

  close(): void {
    clearTimeout(this.#saveTimer);
    this.#agent?.end();
    this.#server.close();
    this.#options.onEnd();
  }

  async #inherit(): Promise<void> {
    const { tasks, sameBoot } = readTable(this.#options.paths.table);
    const orphans = tasks.filter((task) => task.exit === undefined);
    if (sameBoot) {
      const cgroups = orphans.map((task) => new Cgroup(task.cgroups ?? []));
      for (const cgroup of cgroups) cgroup.kill();
      await sweep(orphans);
      await Promise.all(cgroups.map((cgroup) => cgroup.remove()));
    }
    const lost = sameBoot
      ? 'the supervisor of the task ended unexpectedly'
      : 'the machine restarted';
    const exit: ProcessExit = { exitCode: 137, signal: 9, timeMs: Date.now(), lost };
    for (const task of tasks) {
      const status = { exit, ...task };
      this.#entries.set(task.taskId, { status, started: Promise.resolve(status) });
    }
    this.#saveTable();
  }

  #connect(socket: Socket): void {
    let isAgent = false;
    const send = (message: object): void => {
      if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
    };
    const receive = (message: Record<string, unknown>): void => {
      const request = message as unknown as Numbered<Request>;
      if (request.op === 'streams' && !isAgent) {
        this.#carryStreams(socket, request.id);
        return;
      }
      if (request.op === 'hello' && !isAgent) {
        isAgent = true;
        this.#attachAgent(socket);
      }
      void this.#answerRequest(request, isAgent).then(send);
    };
    socket.on('error', () => {});
    socket.on('close', () => this.#detachAgent(socket));
    socket.on(
      'data',
      lineReader(receive, (reason) => {
        send({ id: 0, error: { code: 'malformed-request', message: reason } });
        socket.end();
      }),
    );
  }

  /** Only the agent's user can open the socket. Invariant 9: a flood here delays no request. */
  #carryStreams(socket: Socket, id: number): void {
    socket.removeAllListeners('data');
    socket.write(`${JSON.stringify({ id, value: true })}\n`);
    const connection = new StreamConnection({
      socket: socketMessages(socket),
      side: 'node',
      onHandlerError: (kind, error) => {
        process.stderr.write(`a stream of the kind ${kind} failed: ${String(error)}\n`);
      },
    });
    connection.accept('exec', (stream, params) =>
      this.#sessions.serve(stream, params as unknown as ExecRequest),
    );
  }

  #attachAgent(socket: Socket): void {
    this.#agent?.destroy();
    this.#agent = socket;
    clearTimeout(this.#idleTimer);
  }

  #detachAgent(socket: Socket): void {
    if (this.#agent !== socket) return;
    this.#agent = undefined;
    if (this.#options.endWithAgent) {
      void this.end('SIGTERM', orphanLimits.graceMs).then(() => this.close());
    } else {
      this.#watchIdle();
    }
  }

  async #answerRequest(request: Numbered<Request>, isAgent: boolean): Promise<object> {
    const { id } = request;
    try {
      if (!isAgent) throw new SupervisorRefusal('malformed-request', 'say hello first');
      return { id, value: (await this.#performRequest(request)) ?? null };
    } catch (error) {
      const { code = 'unknown', message } = error as NodeJS.ErrnoException;
      return { id, error: { code, message } };
    }
  }

  async #performRequest(request: Request): Promise<unknown> {
    switch (request.op) {
      case 'hello':
        return { version: protocolVersion, pid: process.pid } satisfies Hello;
      case 'start':
        return this.#start(request);
      case 'signal':
        return (await this.#processOf(request.taskId))?.signal(request.signal) ?? false;
      case 'kill':
        return (await this.#processOf(request.taskId))?.kill(request.signal, request.timeoutMs);
      case 'expect':
        this.#moves ??= new GroupMoves(readCgroupLayout());
        return this.#moves.expect();
      case 'list':
        return [...this.#entries.values()].map(({ status }) => status);
      case 'forget':
        return this.#forgetTask(request.taskId);
      case 'shutdown':
        await this.end(request.signal, request.timeoutMs);
        setImmediate(() => this.close());
        return true;
      default:
        throw new SupervisorRefusal('unknown-request', 'this supervisor knows no such request');
    }
  }

  /** Invariant 1: the same id again is the same process. */
  #start(request: StartRequest): Promise<TaskStatus> {
    const known = this.#entries.get(request.taskId);
    if (known !== undefined) return known.started;
    if (this.#ending) throw new SupervisorRefusal('ending', 'the supervisor is ending');
    if (this.#entries.size >= limits.supervisor.tasksMax + limits.supervisor.exitsKept) {
      throw new SupervisorRefusal('too-many-tasks', 'the supervisor has too many tasks');
    }
    const { taskId, allocId, taskName, cgroup, sandbox } = request;
    const status: TaskStatus = {
      taskId,
      allocId,
      taskName,
      pid: 0,
      startTime: '',
      ...(cgroup !== undefined && { cgroups: cgroup.groups.map(({ path }) => path) }),
      ...(sandbox !== undefined && { isSandboxed: true }),
    };
    const { env, directory, user } = request;
    const { cgroups = [] } = status;
    const surroundings = { allocId, taskName, env, directory, user, cgroups };
    const entry: Entry = { status, started: Promise.resolve(status), surroundings };
    this.#entries.set(taskId, entry);
    entry.started = this.#spawn(entry, request);
    return entry.started;
  }

  async #spawn(entry: Entry, request: StartRequest): Promise<TaskStatus> {
    try {
      // Invariant 5: if this process dies now, the next one finds the child by its environment.
      await this.#saveTableTogether();
      await this.#starts.turn();
      const process = await TaskProcess.start(request, {
        pool: this.#pool,
        sweeper: this.#sweeper,
        births: this.#births,
        defences: this.#options.defences,
      });
      const { pid, startTime } = process;
      entry.status = { ...entry.status, pid, startTime };
      await Promise.all([process.begin(), this.#saveTableTogether()]);
      entry.process = process;
      entry.ended = process.exited.then(async (exit) => {
        delete entry.process;
        await this.#sessions.endOf(request.taskId);
        await this.#noteExit(entry, exit);
      });
      return entry.status;
    } catch (error) {
      this.#entries.delete(request.taskId);
      this.#saveTable();
      throw error;
    }
  }

  async #noteExit(entry: Entry, exit: ProcessExit): Promise<void> {
    entry.status = { ...entry.status, exit };
    delete entry.surroundings;
    await this.#saveTableTogether();
    const event: ExitEvent = { event: 'exit', status: entry.status };
    if (this.#agent?.writable) this.#agent.write(`${JSON.stringify(event)}\n`);
    this.#watchIdle();
  }

  async #processOf(taskId: string): Promise<TaskProcess | undefined> {
    const entry = this.#entries.get(taskId);
    if (entry === undefined) throw new SupervisorRefusal('unknown-task', `no task ${taskId}`);
    await entry.started.catch(() => {});
    return entry.process;
  }

  async #forgetTask(taskId: string): Promise<void> {
    const entry = this.#entries.get(taskId);
    if (entry === undefined) return;
    if (entry.status.exit === undefined) {
      throw new SupervisorRefusal('still-running', `the task ${taskId} is running`);
    }
    this.#entries.delete(taskId);
    await this.#saveTableTogether();
  }

  /** Saves once for all callers of one turn of the event loop, as many tasks may start or end at once. */
  #saveTableTogether(): Promise<void> {
    this.#saving ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#saving = undefined;
        this.#saveTable();
        resolve();
      });
    });
    return this.#saving;
  }

  #saveTable(): void {
    const statuses = [...this.#entries.values()].map(({ status }) => status);
    this.#options.onChange?.();
    clearTimeout(this.#saveTimer);
    try {
      writeTable(this.#options.paths.table, statuses);
    } catch (error) {
      // A full disk must not end every task; only a crash before the next save loses something.
      say(`the task table could not be written: ${String(error)}`);
      this.#saveTimer = setTimeout(() => this.#saveTable(), limits.node.saveRetryMs);
    }
  }

  #watchIdle(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      const running = [...this.#entries.values()].some(({ status }) => status.exit === undefined);
      if (this.#agent === undefined && !running) this.close();
    }, this.#options.idleTimeoutMs);
  }
}
