import { delay, type Random, type Timers } from '../../base/ports.ts';
import type { ExecSession } from '../../model/exec-session/exec-session.ts';
import { openExec } from '../../model/exec-session/exec-stream.ts';
import { limits } from '../../model/limits.ts';
import type { StreamConnection } from '../../model/node-stream/stream-connection.ts';
import {
  ConnectionLost,
  dial,
  dialStreams,
  SupervisorConnection,
  VersionMismatch,
} from './connection.ts';
import { launchSupervisor } from './launch.ts';
import { clientLimits } from './limits.ts';
import { type SupervisorPaths, supervisorPaths } from './paths.ts';
import { isEnded, readStat } from './proc.ts';
import {
  type ExecRequest,
  type Hello,
  type ProcessExit,
  protocolVersion,
  type Request,
  type StartRequest,
  SupervisorRefusal,
  type TaskStatus,
} from './protocol.ts';
import { TaskStatuses } from './task-statuses.ts';
import { readTable } from './task-table.ts';

export interface SupervisorClientOptions {
  readonly dataDirectory: string;
  /** Tasks end with this process, as for an agent without a data directory to keep. */
  readonly endWithAgent: boolean;
  readonly timers: Timers;
  readonly random: Random;
  /** Reports to the operator that a supervisor was lost or replaced. */
  readonly onNotice?: (sentence: string) => void;
  /** Default: `clientLimits.idleTimeoutMs`. */
  readonly idleTimeoutMs?: number;
  /** Starts a supervisor, and returns its pid. Default: the product's own. */
  readonly launch?: typeof launchSupervisor;
}

/**
 * The agent's side of its supervisor: finds the running supervisor or starts one, also when it
 * dies. Requests wait for the connection; all of them can be repeated.
 */
export class SupervisorClient {
  readonly #options: SupervisorClientOptions;
  readonly #paths: SupervisorPaths;
  readonly #statuses = new TaskStatuses();
  #connection: Promise<SupervisorConnection> | undefined;
  #streams: Promise<StreamConnection> | undefined;
  #pid = 0;
  #version: number = protocolVersion;
  #closing = false;
  #isExpecting = false;

  constructor(options: SupervisorClientOptions) {
    this.#options = options;
    this.#paths = supervisorPaths(options.dataDirectory);
  }

  /** The supervisor's pid; 0 before the first connection. */
  get pid(): number {
    return this.#pid;
  }

  get directory(): string {
    return this.#paths.directory;
  }

  /** Connects, and returns all tasks the supervisor knows, ended ones too. */
  async connect(): Promise<readonly TaskStatus[]> {
    await this.#connected();
    return this.#statuses.all();
  }

  /** Connects, and returns the status of a task. */
  async find(taskId: string): Promise<TaskStatus | undefined> {
    await this.#connected();
    return this.#statuses.get(taskId);
  }

  /**
   * Starts a process, or finds the process that was started for this task id. Rejects with
   * `SupervisorRefusal` when it cannot be started.
   */
  async start(request: StartRequest): Promise<TaskStatus> {
    await this.#connected();
    const { oldestSupervisor = 0 } = request.sandbox ?? {};
    if (this.#version < oldestSupervisor) throw tooOld();
    const status = await this.#request<TaskStatus>({ op: 'start', ...request });
    const known = this.#statuses.get(request.taskId);
    if (known?.exit === undefined) this.#statuses.note(status);
    return this.#statuses.get(request.taskId) ?? status;
  }

  /** Tells the supervisor that a start follows soon, so that it prepares. Returns at once. */
  expectStart(): void {
    if (this.#isExpecting || this.#connection === undefined) return;
    this.#isExpecting = true;
    const over = (): void => {
      this.#isExpecting = false;
    };
    // Older supervisors know no such request.
    void this.#request({ op: 'expect' }).then(over, over);
  }

  /** `false` when the process has ended. */
  signal(taskId: string, signal: string): Promise<boolean> {
    return this.#request({ op: 'signal', taskId, signal });
  }

  /** Sends `signal`, and kills the whole group `timeoutMs` later. Does not wait for the end. */
  async kill(taskId: string, signal: string, timeoutMs: number): Promise<void> {
    await this.#request({ op: 'kill', taskId, signal, timeoutMs });
  }

  /**
   * Runs a command beside a task, until the task ends or this client closes. Rejects with
   * `StreamFault` when it cannot be started, with `ConnectionLost` when there is no supervisor.
   */
  async exec(request: ExecRequest): Promise<ExecSession> {
    await this.#connected();
    this.#streams ??= this.#openStreams();
    const connection = await this.#streams;
    return openExec(connection.open('exec', { ...request }, limits.exec.creditBytes));
  }

  async #openStreams(): Promise<StreamConnection> {
    const forget = (): void => {
      this.#streams = undefined;
    };
    try {
      const connection = await dialStreams(this.#paths.socket);
      void connection.closed.then(forget);
      return connection;
    } catch (error) {
      forget();
      throw error;
    }
  }

  async #closeStreams(): Promise<void> {
    const streams = await this.#streams?.catch(() => undefined);
    streams?.close(1000, 'the agent leaves');
  }

  status(taskId: string): TaskStatus | undefined {
    return this.#statuses.get(taskId);
  }

  /** Resolves when the task has ended and its output is written. */
  exitOf(taskId: string): Promise<ProcessExit> {
    return this.#statuses.exitOf(taskId);
  }

  /** Acknowledges an exit, which the supervisor then forgets. */
  async forget(taskId: string): Promise<void> {
    await this.#request({ op: 'forget', taskId });
    this.#statuses.forget(taskId);
  }

  /** Disconnects; tasks go on, except with `endWithAgent`. An idle supervisor is ended. */
  async close(): Promise<void> {
    if (this.#statuses.all().every(({ exit }) => exit !== undefined)) {
      return this.shutdown();
    }
    this.#closing = true;
    await this.#closeStreams();
    const connection = await this.#connection?.catch(() => undefined);
    connection?.close();
    await connection?.closed;
  }

  /** Ends all tasks and the supervisor, and waits until it is gone. */
  async shutdown(signal = 'SIGTERM', timeoutMs = clientLimits.shutdownGraceMs): Promise<void> {
    this.#closing = true;
    await this.#closeStreams();
    const connection = await this.#connection?.catch(() => undefined);
    if (connection === undefined) return;
    const pid = this.#pid;
    await connection.request({ op: 'shutdown', signal, timeoutMs }).catch(() => {});
    connection.close();
    await connection.closed;
    while (isRunning(pid)) await delay(this.#options.timers, clientLimits.dialIntervalMs);
  }

  /** Kills all tasks and the supervisor, even if an earlier request gave them time. */
  async killAll(): Promise<void> {
    this.#closing = true;
    const connection = await this.#connection?.catch(() => undefined);
    const now = { op: 'shutdown', signal: 'SIGKILL', timeoutMs: 0 } as const;
    await connection?.request(now).catch(() => {});
  }

  async #request<T>(request: Request): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      const connection = await this.#connected();
      try {
        return await connection.request<T>(request);
      } catch (error) {
        if (!(error instanceof ConnectionLost) || this.#closing || attempt >= 3) throw error;
      }
    }
  }

  #connected(): Promise<SupervisorConnection> {
    if (this.#connection !== undefined) return this.#connection;
    if (this.#closing) throw new ConnectionLost('the supervisor is no longer needed');
    const opening = this.#open();
    this.#connection = opening;
    opening.then(
      (connection) => connection.closed.then(() => this.#noteLoss()),
      () => {
        this.#connection = undefined;
      },
    );
    return opening;
  }

  #noteLoss(): void {
    this.#connection = undefined;
    if (this.#closing) return;
    this.#options.onNotice?.('the supervisor is gone; its tasks are ended and another one starts');
    void this.#reconnect();
  }

  /** Reconnects at once: else exits would stay unknown until the next request. */
  async #reconnect(): Promise<void> {
    const { timers, random, onNotice } = this.#options;
    const { reconnectMinMs, reconnectMaxMs } = clientLimits;
    for (
      let delayMs = reconnectMinMs;
      !this.#closing;
      delayMs = Math.min(delayMs * 2, reconnectMaxMs)
    ) {
      try {
        await this.#connected();
        return;
      } catch (error) {
        onNotice?.(`no supervisor could be started: ${String(error)}`);
      }
      await delay(timers, delayMs * (1 + random.fraction()));
    }
  }

  async #open(): Promise<SupervisorConnection> {
    for (let attempt = 1; ; attempt++) {
      try {
        const connection = (await this.#attachRunning()) ?? (await this.#launchNew());
        this.#statuses.synchronize(await connection.request<TaskStatus[]>({ op: 'list' }));
        return connection;
      } catch (error) {
        // The supervisor ended right after it was found: the next attempt starts another.
        if (!(error instanceof ConnectionLost) || this.#closing || attempt === 3) throw error;
      }
    }
  }

  /** The running supervisor, if this agent can work with it. */
  async #attachRunning(): Promise<SupervisorConnection | undefined> {
    const socket = await dial(this.#paths.socket);
    if (socket === undefined) {
      await this.#endSilent();
      return undefined;
    }
    const connection = new SupervisorConnection(socket, ({ status }) =>
      this.#statuses.note(status),
    );
    try {
      const hello = await this.#inTime(connection.hello());
      this.#noteHello(hello);
      if (hello.version === protocolVersion) return connection;
      const tasks = await connection.request<TaskStatus[]>({ op: 'list' });
      if (tasks.length > 0) {
        this.#options.onNotice?.(olderSentence(hello));
        return connection;
      }
      await this.#endIdle(connection);
      return undefined;
    } catch (error) {
      if (error instanceof VersionMismatch) await this.#replaceOther(connection, error);
      connection.close();
      await this.#endSilent();
      return undefined;
    }
  }

  #noteHello({ pid, version }: Hello): void {
    this.#pid = pid;
    this.#version = version;
  }

  async #endIdle(connection: SupervisorConnection): Promise<void> {
    const now = {
      op: 'shutdown',
      signal: 'SIGTERM',
      timeoutMs: clientLimits.shutdownGraceMs,
    } as const;
    await connection.request(now).catch(() => {});
    await connection.closed;
  }

  /** Ends a supervisor of another version, and its tasks with it. */
  async #replaceOther(connection: SupervisorConnection, error: VersionMismatch): Promise<void> {
    this.#options.onNotice?.(`${error.message}: its tasks are ended and start again`);
    const tasks = await connection.request<TaskStatus[]>({ op: 'list' }).catch(() => []);
    this.#statuses.noteReplaced(tasks);
    await this.#endIdle(connection);
  }

  /** Ends a supervisor that is alive and does not answer. */
  async #endSilent(): Promise<void> {
    const { supervisorPid } = readTable(this.#paths.table);
    if (supervisorPid === undefined) return;
    await this.#waitUntil(() => !isRunning(supervisorPid), clientLimits.dialIntervalMs * 20);
    if (!isRunning(supervisorPid)) return;
    this.#options.onNotice?.('the running supervisor does not answer and is ended');
    await this.#killSupervisor(supervisorPid);
  }

  async #killSupervisor(pid: number): Promise<void> {
    if (isRunning(pid)) process.kill(pid, 'SIGKILL');
    await this.#waitUntil(() => !isRunning(pid), limits.supervisor.startTimeoutMs);
  }

  async #launchNew(): Promise<SupervisorConnection> {
    const {
      dataDirectory,
      endWithAgent,
      idleTimeoutMs = clientLimits.idleTimeoutMs,
    } = this.#options;
    const { launch = launchSupervisor } = this.#options;
    const pid = launch({ dataDirectory, endWithAgent, idleTimeoutMs });
    let socket: Awaited<ReturnType<typeof dial>>;
    await this.#waitUntil(async () => {
      socket = await dial(this.#paths.socket);
      return socket !== undefined || !isRunning(pid);
    }, limits.supervisor.startTimeoutMs);
    if (socket === undefined) {
      // If it started after all, it would displace the next supervisor.
      await this.#killSupervisor(pid);
      throw new Error(`the supervisor did not start, see ${this.#paths.log}`);
    }
    const connection = new SupervisorConnection(socket, ({ status }) =>
      this.#statuses.note(status),
    );
    this.#noteHello(await this.#inTime(connection.hello()));
    return connection;
  }

  /** The time is counted in checks, so a stall of this process itself does not use it up. */
  async #waitUntil(done: () => boolean | Promise<boolean>, timeoutMs: number): Promise<void> {
    for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += clientLimits.dialIntervalMs) {
      if (await done()) return;
      await delay(this.#options.timers, clientLimits.dialIntervalMs);
    }
  }

  #inTime<T>(answer: Promise<T>): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    answer.then(over, over);
    const late = this.#waitUntil(() => isOver, clientLimits.helloTimeoutMs).then(() => {
      if (!isOver) throw new ConnectionLost('the supervisor does not answer');
      return answer;
    });
    return Promise.race([answer, late]);
  }
}

const olderSentence = ({ version }: Hello): string =>
  `the running supervisor is of version ${version}, and goes on with its tasks; what it starts has no ` +
  'filter of system calls until it has none left and the agent starts again';

const tooOld = (): SupervisorRefusal =>
  new SupervisorRefusal(
    'old-supervisor',
    'root and the namespaces of the machine need a supervisor of this version: the running one goes when ' +
      'none of its tasks is left and the agent starts again',
  );

const isRunning = (pid: number): boolean => !isEnded(readStat(pid));
