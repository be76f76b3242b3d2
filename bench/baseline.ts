import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { limits } from './limits.ts';
import { type Target, targetOf } from './target.ts';

const program = fileURLToPath(new URL('./baseline-server.mjs', import.meta.url));

export interface BaselineOptions {
  /** Its answer, unless the request asks for another one. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface RunningBaseline {
  readonly target: Target;
  readonly pid: number;
  /** Time from the start of the process to its line that it is ready. */
  readonly readyMs: number;
  stop(): Promise<void>;
}

/** Starts the bare `node:http` server. */
export function startBaseline(options: BaselineOptions): Promise<RunningBaseline> {
  return new Promise((resolve, reject) => {
    const startMs = performance.now();
    const child = spawn(process.execPath, [program, JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = new Promise<void>((gone) => child.once('exit', () => gone()));
    const tooLate = setTimeout(() => child.kill('SIGKILL'), limits.startMs);
    const stop = async () => {
      child.kill('SIGKILL');
      await ended;
    };
    child.stdout.once('data', (line: Buffer) => {
      clearTimeout(tooLate);
      const address = /http:\S+/.exec(line.toString())![0];
      const { pid = 0 } = child;
      resolve({ target: targetOf(address, ''), pid, readyMs: performance.now() - startMs, stop });
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error('the baseline server did not start')));
  });
}

/** Runs `use` with a baseline server, and ends the server. */
export async function withBaseline<T>(
  options: BaselineOptions,
  use: (baseline: RunningBaseline) => Promise<T>,
): Promise<T> {
  const baseline = await startBaseline(options);
  try {
    return await use(baseline);
  } finally {
    await baseline.stop();
  }
}
