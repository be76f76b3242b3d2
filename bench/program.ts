import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { temporaryFolder } from './agent.ts';
import { until } from './benchmark.ts';
import { limits } from './limits.ts';
import { listenersOn } from './processes.ts';
import { ask, type Target, targetOf } from './target.ts';

/** A program that serves the API, by its command. `{port}`, `{token}` and `{directory}` are filled in. */
export interface Program {
  readonly command: string;
  readonly address: string;
}

export interface RunningProgram {
  readonly target: Target;
  readonly pid: number;
  /** Time from the start of the process to its first list of jobs. */
  readonly readyMs: number;
}

export const isInstalled = ({ command }: Program): boolean =>
  spawnSync('sh', ['-c', 'command -v "$0"', command.trim().split(/\s/)[0]!]).status === 0;

/** Runs `use` with the program, in a folder of its own, and ends the program. */
export async function withProgram<T>(
  { command, address }: Program,
  use: (program: RunningProgram) => Promise<T>,
): Promise<T> {
  const folder = temporaryFolder();
  const values = { port: String(await freePort()), token: randomUUID(), directory: folder.path };
  const filled = (text: string) =>
    text.replace(/\{(port|token|directory)\}/g, (_, name: keyof typeof values) => values[name]);
  const target = targetOf(filled(address), values.token);
  try {
    if (await serves(target)) throw new Error(`another program is at ${filled(address)}`);
    const startMs = performance.now();
    const child = spawn('sh', ['-c', `exec ${filled(command)}`], {
      stdio: ['ignore', 'ignore', 'inherit'],
      // Processes that the program starts are found by the folder, and ended with it.
      env: { ...process.env, BENCH_DIRECTORY: folder.path },
    });
    const ended = new Promise<void>((gone) => child.once('exit', () => gone()));
    const isReady = async () => {
      const end = child.exitCode ?? child.signalCode;
      if (end !== null) throw new Error(`${command} ended with ${end}`);
      return (await serves(target)) || undefined;
    };
    await until(`that ${command} lists jobs`, isReady, limits.program.lookAgainMs);
    const readyMs = performance.now() - startMs;
    const used = await use({ target, pid: listenersOn(target.port)[0]!, readyMs });
    child.kill('SIGTERM');
    const tooLate = setTimeout(() => child.kill('SIGKILL'), limits.stopMs);
    await ended;
    clearTimeout(tooLate);
    return used;
  } finally {
    await folder.remove();
  }
}

/** Whether a server answers the path with 200. */
export const serves = (target: Target, path = '/v1/jobs'): Promise<boolean> =>
  ask(target, 'GET', path).then(
    ({ status }) => status === 200,
    () => false,
  );

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number };
      server.close(() => resolve(port));
    });
  });
}
