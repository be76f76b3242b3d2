import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../tools/build.ts';
import type { Benchmark, Results, Setting } from './benchmark.ts';
import { limits } from './limits.ts';
import { unmountBelow } from './mounts.ts';
import { isAlive, processesNaming } from './processes.ts';
import { type Target, targetOf } from './target.ts';

export const checkout = fileURLToPath(new URL('..', import.meta.url));

/** A temporary folder. `remove` deletes it and ends every process that names it. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<void>;
}

export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'roster-bench-'));
  const remove = async () => {
    await endProcessesNaming(path);
    unmountBelow(path);
    rmSync(path, { recursive: true, force: true });
  };
  const interrupted = () => void remove().finally(() => process.exit(130));
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, interrupted);
  return {
    path,
    async remove() {
      for (const signal of signals) process.off(signal, interrupted);
      await remove();
    },
  };
}

/** Ends agents, supervisors and tasks that live in the folder, and waits until they are gone. */
async function endProcessesNaming(path: string): Promise<void> {
  const deadlineMs = performance.now() + limits.stopMs;
  for (;;) {
    const left = processesNaming(path).filter(isAlive);
    if (left.length === 0) return;
    if (performance.now() > deadlineMs) throw new Error(`processes ${left} cannot be ended`);
    for (const pid of left) kill(pid);
    await new Promise((resolve) => setTimeout(resolve, limits.lookAgainMs));
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

/** The bundled agent of a checkout, laid out as an installed package. Returns the command. */
export async function installBundle(folder: string, from = checkout): Promise<string> {
  const root = join(folder, 'package');
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  await bundle(from, join(root, 'dist'));
  cpSync(join(checkout, 'bin'), join(root, 'bin'), { recursive: true });
  cpSync(join(checkout, 'package.json'), join(root, 'package.json'));
  symlinkSync(join(checkout, pinnedNode), join(root, pinnedNode));
  return join(root, 'bin/roster');
}

const pinnedNode = `node_modules/node-linux-${process.arch}`;

/** Gives an installed bundle a Node of its own, so that its processes share no memory with others. */
export function copyNode(command: string): void {
  const copy = join(dirname(dirname(command)), pinnedNode);
  rmSync(copy);
  cpSync(join(checkout, pinnedNode, 'bin'), join(copy, 'bin'), { recursive: true });
}

export interface AgentOptions {
  /** The default is the command of the checkout. */
  readonly command?: string;
  /** `undefined` keeps the state in memory only. */
  readonly dataDirectory: string | undefined;
  /** A configuration file for settings without a flag. */
  readonly config?: string;
  readonly readers?: number;
  readonly decider?: boolean;
  /** The token of an earlier agent on the same directory; the default is a new token. */
  readonly token?: string;
  /** The port of an earlier agent, whose clients come back; the default is a free port. */
  readonly port?: number;
  /** Added to the environment of the benchmark. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Kills the agent, also before it is ready. */
  readonly abort?: AbortSignal;
}

/** An agent in a process of its own. */
export interface RunningAgent {
  readonly target: Target;
  readonly pid: number;
  /** Time from the start of the process to its line that it is ready. */
  readonly readyMs: number;
  /** Resolves once the process is gone. */
  readonly ended: Promise<void>;
  /** Ends the agent like a user, and stops its tasks. */
  stop(): Promise<void>;
  /** Kills the agent, like a power cut. */
  kill(): Promise<void>;
}

/** Resolves when the agent is ready. Rejects with its output if it ends before. */
export function startAgent(options: AgentOptions): Promise<RunningAgent> {
  const { dataDirectory, config, token = randomUUID(), port = 0, readers, decider } = options;
  const { abort, environment } = options;
  const { command = join(checkout, 'bin/roster') } = options;
  return new Promise((resolve, reject) => {
    const startMs = performance.now();
    const kept = dataDirectory === undefined ? [] : ['--data-dir', dataDirectory];
    const fate = dataDirectory === undefined ? [] : ['--tasks-on-exit', 'stop'];
    const flags = [
      '--dev',
      '--http',
      `127.0.0.1:${port}`,
      '--root-token',
      token,
      '--log-level',
      'warn',
    ];
    const file = config === undefined ? [] : ['--config', config];
    const threads = [
      ...(readers === undefined ? [] : ['--readers', String(readers)]),
      ...(decider === undefined ? [] : [`--decider=${decider}`]),
    ];
    const child = spawn(command, ['agent', ...flags, ...kept, ...fate, ...file, ...threads], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
    });
    const ended = new Promise<void>((gone) => child.once('exit', () => gone()));
    let said = '';
    const hear = (text: Buffer) => {
      said = (said + text).slice(-10_000);
      const address = /ready at (http:\/\/\S+)/.exec(said)?.[1];
      if (address === undefined) return;
      clearTimeout(tooLate);
      const readyMs = performance.now() - startMs;
      const { pid = 0 } = child;
      const target = targetOf(address, token);
      resolve({ target, pid, readyMs, ended, ...endings(child, ended) });
    };
    const tooLate = setTimeout(() => child.kill('SIGKILL'), limits.startMs);
    abort?.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('error', reject);
    child.once('exit', (code, signal) => {
      clearTimeout(tooLate);
      reject(new Error(`the agent ended (${signal ?? code}) before it was ready:\n${said}`));
    });
  });
}

function endings(child: ChildProcess, ended: Promise<void>) {
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    const tooLate = setTimeout(() => child.kill('SIGKILL'), limits.stopMs);
    await ended;
    clearTimeout(tooLate);
  };
  return { stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}

/** The program of this checkout. */
export const rosterCommand = join(checkout, 'bin/roster');

/** Runs `use` with the given server, or with a new agent. */
export const onTarget =
  (measure: (setting: Setting, target: Target) => Promise<Results>): Benchmark['run'] =>
  (setting) =>
    setting.given === undefined
      ? withAgent(({ target }) => measure(setting, target))
      : measure(setting, setting.given);

/** Runs `use` with an agent in a temporary folder, and removes both. */
export async function withAgent<T>(
  use: (agent: RunningAgent, folder: string) => Promise<T>,
  command = rosterCommand,
  threads: Pick<AgentOptions, 'readers' | 'decider'> = {},
): Promise<T> {
  const folder = temporaryFolder();
  try {
    const dataDirectory = join(folder.path, 'data');
    const agent = await startAgent({ command, dataDirectory, readers: 0, ...threads });
    try {
      return await use(agent, folder.path);
    } finally {
      await agent.stop();
    }
  } finally {
    await folder.remove();
  }
}
