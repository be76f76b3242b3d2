/**
 * Agents started by the real command, each with a free port and its own directory.
 *
 * All processes of a test file carry the file's directory in their command line or environment
 * (`TMPDIR`, which tasks inherit). So `endAgents` can check that none is left.
 */
import { spawn } from 'node:child_process';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { unmountBelow } from '../../bench/mounts.ts';

export const checkout = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const command = join(checkout, 'bin/roster');

/** The directory of this test file. `endAgents` removes it. */
export const directory = realpathSync(mkdtempSync(join(tmpdir(), 'roster-e2e-')));
/** The temporary directory of the programs under test. */
export const temporary = mkdtempSync(join(directory, 'tmp-'));

const patienceMs = 40_000;
/**
 * For the start of an agent. From source it takes 2.5 seconds of processor time, more than anything else that a test
 * waits for, and so half a minute on two cores that ten other processes use.
 */
export const startPatienceMs = 80_000;
const programs = new Set<Program>();
const isAgent = new WeakSet<Program>();

// When the test runner is stopped early, `endAgents` is not reached.
process.on('exit', () => {
  for (const pid of processesWith(directory)) kill(pid, 'SIGKILL');
});

export const newDirectory = (name = 'data'): string => mkdtempSync(join(directory, `${name}-`));

export interface Ended {
  /** As in a shell: 128 + the signal for a program that was killed. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running program with its output so far. */
export interface Program {
  readonly pid: number;
  readonly said: () => { readonly stdout: string; readonly stderr: string };
  /** The first match in its output. */
  readonly says: (pattern: RegExp, withinMs?: number) => Promise<RegExpExecArray>;
  readonly signal: (name: NodeJS.Signals) => void;
  readonly ended: Promise<Ended>;
}

export interface LaunchOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Start it in its own process group. `signal` then reaches the whole group, as Ctrl-C does. */
  readonly isGroup?: boolean;
  readonly cwd?: string;
}

export function launch(
  file: string,
  words: readonly string[],
  { env = {}, stdin = '', isGroup = false, cwd = checkout }: LaunchOptions = {},
): Program {
  const { PATH = '', HOME = '/' } = process.env;
  const child = spawn(file, words, {
    cwd,
    detached: isGroup,
    env: { PATH, HOME, TMPDIR: temporary, ...env },
  });
  const output = { stdout: '', stderr: '' };
  let heard = () => {};
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
      heard();
    });
  }
  child.stdin.on('error', () => {}).end(stdin);
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => {
      programs.delete(program);
      resolve({ code: code ?? 128 + constants.signals[signal!], ...output });
      heard();
    });
  });
  const pid = child.pid!;
  const program: Program = {
    pid,
    said: () => ({ ...output }),
    says: (pattern, withinMs) =>
      eventually(
        () => {
          const found = pattern.exec(output.stdout);
          if (found !== null) return found;
          const told = `${file} ${words.join(' ')}\n${output.stdout}\n${output.stderr}`;
          const error = new Error(`${pattern} was not printed by ${told}`);
          if (!programs.has(program)) throw Object.assign(error, { isFinal: true });
          throw error;
        },
        (again) => {
          heard = again;
        },
        withinMs,
      ),
    signal: (name) => kill(isGroup ? -pid : pid, name),
    ended,
  };
  programs.add(program);
  return program;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly json: any;
}

export type Agent = Awaited<ReturnType<typeof startAgent>>;

export interface StartOptions {
  /** By default none, so that nothing is kept. */
  readonly dataDirectory?: string;
  readonly args?: readonly string[];
  /** `null`: the agent makes a token and prints it. */
  readonly token?: string | null;
  /** Added to the environment of all test programs. */
  readonly env?: Readonly<Record<string, string>>;
}

export const rootToken = '11111111-1111-4111-8111-111111111111';

export function agentWords({ dataDirectory, args = [], token = rootToken }: StartOptions) {
  return [
    'agent',
    '--dev',
    '--http',
    '127.0.0.1:0',
    ...(dataDirectory === undefined
      ? []
      : ['--data-dir', dataDirectory, '--tasks-on-exit', 'stop']),
    ...(token === null ? [] : ['--root-token', token]),
    ...args,
  ];
}

/** Resolves when it is ready, or answers from its copy of the state. Rejects with all of its output when it ends before. */
export async function startAgent(options: StartOptions = {}) {
  const program = launch(command, agentWords(options), { env: options.env ?? {} });
  isAgent.add(program);
  const listens = /Roster (?:is ready|answers) at (http:\/\/[^\s,]+)/;
  const [, address = ''] = await program.says(listens, startPatienceMs);
  const [, made = ''] = await program.says(/Root token {2}(\S+)[\s\S]*Ctrl-C ends it\.\n/);
  const given = options.token === undefined ? rootToken : options.token;
  const token = given ?? made;
  const env = { ROSTER_ADDR: address, ROSTER_TOKEN: token };

  const calls = callsOf(address, token);
  const { request, introduce } = calls;

  return {
    ...program,
    address,
    token,
    env,
    ...calls,
    dataDirectory: options.dataDirectory,
    cliStart: (...words: string[]) => launch(command, words, { env }),
    cli: (...words: string[]): Promise<Ended> => launch(command, words, { env }).ended,
    cliWith: (stdin: string, ...words: string[]) => launch(command, words, { env, stdin }).ended,
    /** A file with a token that brings one node in. */
    async introductionFile(request: object = {}): Promise<string> {
      const made = await introduce(request);
      const path = join(newDirectory('introduction'), 'token');
      writeFileSync(path, made, { mode: 0o600 });
      return path;
    },
    /** Registers a job; gives the answer's JSON. */
    async register(job: object) {
      const { status, text, json } = await request('PUT', '/v1/jobs', { Job: job });
      expect([status, status === 200 ? '' : text]).toEqual([200, '']);
      return json;
    },
    /** Sends the signal and waits until the process has ended. */
    stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
      program.signal(signal);
      return program.ended;
    },
  };
}

function callsOf(address: string, token: string) {
  async function request(method: string, path: string, body?: unknown): Promise<HttpAnswer> {
    const answer = await fetch(`${address}${path}`, {
      method,
      headers: { 'x-registry-token': token },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = /json/.test(answer.headers.get('content-type') ?? '') && text !== '';
    const { status, headers } = answer;
    return { status, headers, text, json: isJson ? JSON.parse(text) : undefined };
  }

  const get = async (path: string) => {
    const { status, text, json } = await request('GET', path);
    expect([status, path, status === 200 ? '' : text]).toEqual([200, path, '']);
    return json;
  };

  /** The secret of an introduction token for one node. */
  async function introduce(body: object = {}): Promise<string> {
    const { status, text, json } = await request('PUT', '/v1/node/introduction-token', body);
    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
    return json.SecretID;
  }

  /** Repeats the read after each change, by blocking queries, until `check` does not throw. */
  async function until<T>(path: string, check: (json: HttpAnswer['json']) => T): Promise<T> {
    const endMs = performance.now() + patienceMs;
    for (let index = 0; ; ) {
      const mark = path.includes('?') ? '&' : '?';
      const answer = await request('GET', `${path}${mark}index=${index}&wait=10s`);
      expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
      try {
        return check(answer.json);
      } catch (error) {
        if (performance.now() > endMs) throw error;
      }
      const seen = Math.max(1, indexOf(answer));
      index = seen < index ? 0 : seen;
    }
  }

  return { request, get, introduce, until };
}

/** The index in the headers of an answer. */
export const indexOf = ({ headers }: Pick<HttpAnswer, 'headers'>): number =>
  Number(headers.get('x-scheduler-index') ?? headers.get('x-registry-index'));

/** Ends the agents of this file. Fails if a process is left. */
export async function endAgents(): Promise<void> {
  const ending = [...programs].map(async (program) => {
    program.signal('SIGTERM');
    const { code, stderr } = await program.ended;
    return isAgent.has(program) && code !== 0 ? [{ code, stderr }] : [];
  });
  const faults = (await Promise.all(ending)).flat();
  try {
    expect(faults).toEqual([]);
    await eventually(() => expect(describeAll(processesWith(directory))).toEqual([]));
  } finally {
    for (const pid of processesWith(directory)) kill(pid, 'SIGKILL');
    await eventually(() => expect(processesWith(directory)).toEqual([]));
    unmountBelow(directory);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Live processes with this text in their command line or environment. Zombies have neither. */
export const processesWith = (text: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => ['cmdline', 'environ'].some((file) => inProc(name, file).includes(text)))
    .map(Number);

/** The processes of one allocation. */
export const processesOf = (allocation: { readonly ID: string }): number[] =>
  processesWith(`ROSTER_ALLOC_ID=${allocation.ID}\0`);

/** The supervisors of agents whose data directories are below this directory. */
export const supervisorsOf = (dataDirectory: string): number[] =>
  processesWith(dataDirectory).filter((pid) => {
    const words = inProc(String(pid), 'cmdline');
    return /\/supervisor(\/main\.ts|\.js)\0/.test(words) && words.includes(dataDirectory);
  });

const describeAll = (pids: readonly number[]): string[] =>
  pids.map((pid) => `${pid}: ${inProc(String(pid), 'cmdline').replaceAll('\0', ' ')}`);

function inProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Repeats `check` until it does not throw, on each `onChange` and every few milliseconds. Its last
 * error is thrown when the time is over, or at once if `isFinal` says so.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  onChange: (again: () => void) => void = () => {},
  withinMs = patienceMs,
): Promise<T> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      const { isFinal } = error as { isFinal?: boolean };
      if (isFinal === true || performance.now() > endMs) throw error;
    }
    await new Promise<void>((again) => {
      onChange(again);
      setTimeout(again, 20);
    });
  }
}
