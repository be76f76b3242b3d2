/**
 * The messages between an agent and its supervisor over a local socket: one JSON object a line.
 * `hello`, `list`, `kill` and `shutdown` never change their form, so that an agent can always end
 * the tasks of an older supervisor.
 */
import { limits } from '../../model/limits.ts';
import type { CgroupPlan } from './cgroups/plan.ts';

/**
 * 1: tasks without control groups and sandboxes, no streams.
 * 2: `start` carries `cgroup` and `sandbox`, connections of `streams` carry commands beside tasks.
 * 3: a sandbox may have its own users and a system call filter, and tasks inherit no descriptor
 *    that the supervisor inherited.
 */
export const protocolVersion = 3;
/**
 * The oldest supervisor that this agent can work with. Older ones ignore unknown fields of a start,
 * and would run an isolated task without isolation.
 */
export const oldestProtocolVersion = 2;

/** The environment of a start may be as large as the system allows. */
export const longestLineBytes = 4 * limits.supervisor.messageBytesMax;

export interface LogSettings {
  readonly directory: string;
  /** Files are `<name>.stdout.N` and `<name>.stderr.N`. */
  readonly name: string;
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  readonly disabled: boolean;
}

export interface StartRequest {
  /** Names one run of one task for ever. */
  readonly taskId: string;
  readonly allocId: string;
  readonly taskName: string;
  /** An absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string;
  /** A name or number; empty: the supervisor's user. A sandbox sets the user itself. */
  readonly user: string;
  readonly logs: LogSettings;
  /** The control groups that contain, limit and count the process and all its descendants. */
  readonly cgroup?: CgroupPlan;
  /** With it, the command, its arguments, variables and `directory` are meant inside. */
  readonly sandbox?: SandboxSettings;
}

export interface SandboxSettings {
  /** `bwrap`, as an absolute path. */
  readonly program: string;
  /** Its options, except those for descriptors and variables. */
  readonly options: readonly string[];
  /** It has a user namespace, in which users have the same numbers as outside. */
  readonly hasOwnUsers?: boolean;
  /** The system call filter in the kernel's format, in base64. */
  readonly systemCallFilter?: string;
  /** The oldest supervisor that enforces this sandbox; older ones would ignore parts of it. */
  readonly oldestSupervisor: number;
}

/** A command to run beside a task, asked for on a stream of the kind `exec`. */
export interface ExecRequest {
  readonly taskId: string;
  /** The program and its arguments. */
  readonly command: readonly string[];
  readonly tty: boolean;
  /**
   * How to enter an isolated task. Absent: the command gets the task's environment, working
   * directory and user, and is looked for in the same places as the task's command.
   */
  readonly via?: ExecEntrance;
}

export interface ExecEntrance {
  /** Words before the command, beginning with an absolute path: `/usr/bin/nsenter` … */
  readonly prefix: readonly string[];
  /** For the whole command line. Absent settings are the task's. */
  readonly env?: Readonly<Record<string, string>>;
  readonly directory?: string;
  readonly user?: string;
}

/** A process that a signal ended has this plus the signal's number as its exit code. */
export const firstSignal = 128;

export interface ProcessExit {
  /** 0 to 255. After a signal {@link firstSignal} plus its number, as shells tell it. */
  readonly exitCode: number;
  /** The signal's number, or 0. */
  readonly signal: number;
  /** Unix milliseconds. */
  readonly timeMs: number;
  /** It was killed because it used more memory than it was given. */
  readonly oomKilled?: boolean;
  /** Why the command was not run, as a sentence. */
  readonly notRun?: string;
  /** Why the real exit is unknown, as when its supervisor died. */
  readonly lost?: string;
}

export interface TaskStatus {
  readonly taskId: string;
  readonly allocId: string;
  readonly taskName: string;
  readonly pid: number;
  readonly startTime: string;
  /** Its control groups, as absolute paths. */
  readonly cgroups?: readonly string[];
  /** `pid` is the monitor of a sandbox: see `findInside`. */
  readonly isSandboxed?: boolean;
  readonly exit?: ProcessExit;
}

export type Request =
  | { readonly op: 'hello'; readonly version: number }
  | ({ readonly op: 'start' } & StartRequest)
  | { readonly op: 'signal'; readonly taskId: string; readonly signal: string }
  | {
      readonly op: 'kill';
      readonly taskId: string;
      readonly signal: string;
      readonly timeoutMs: number;
    }
  | { readonly op: 'list' }
  /** A start follows soon. Older supervisors refuse to hear of it. */
  | { readonly op: 'expect' }
  /** The first request of a connection that carries streams after the answer. */
  | { readonly op: 'streams' }
  | { readonly op: 'forget'; readonly taskId: string }
  | { readonly op: 'shutdown'; readonly signal: string; readonly timeoutMs: number };

export type Numbered<T> = T & { readonly id: number };

export type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: { readonly code: string; readonly message: string } };

export interface Hello {
  readonly version: number;
  readonly pid: number;
}

export interface ExitEvent {
  readonly event: 'exit';
  readonly status: TaskStatus;
}

/** A refusal of the supervisor. `code` is a system error (`ENOENT`) or one of ours. */
export class SupervisorRefusal extends Error {
  override readonly name = 'SupervisorRefusal';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Cuts a byte stream into lines of JSON. When a line is too long or no object, it calls `refuse`
 * once and then nothing more.
 */
export function lineReader(
  receive: (message: Record<string, unknown>) => void,
  refuse: (reason: string) => void,
): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let waitingBytes = 0;
  let refused = false;
  const stop = (reason: string): void => {
    refused = true;
    parts = [];
    refuse(reason);
  };
  const line = (bytes: Buffer): void => {
    const message = parseObject(bytes.toString());
    if (message === undefined) stop('a line is not a JSON object');
    else receive(message);
  };
  return (chunk) => {
    let rest = chunk;
    for (let end = rest.indexOf(10); end !== -1 && !refused; end = rest.indexOf(10)) {
      const bytes = Buffer.concat([...parts, rest.subarray(0, end)]);
      parts = [];
      waitingBytes = 0;
      rest = rest.subarray(end + 1);
      line(bytes);
    }
    if (refused || rest.length === 0) return;
    waitingBytes += rest.length;
    if (waitingBytes > longestLineBytes) stop('a line is too long');
    else parts.push(rest);
  };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
