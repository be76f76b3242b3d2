import { type ChildProcess, spawn } from 'node:child_process';
import { limits } from '../../../model/limits.ts';
import { ArtifactFailure } from './failure.ts';

/** The PATH of the programs, their only variable. */
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface ProgramOptions {
  readonly directory: string;
  readonly signal: AbortSignal;
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Starts a program in its own process group, without the agent's environment. The signal kills the
 * group, and so all processes that it started.
 */
export function startProgram(
  name: string,
  words: readonly string[],
  { directory, signal, environment = {} }: ProgramOptions,
): ChildProcess {
  const child = spawn(name, words, {
    cwd: directory,
    detached: true,
    env: { PATH: path, LC_ALL: 'C', HOME: directory, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  };
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  child.once('close', () => signal.removeEventListener('abort', end));
  return child;
}

/** Resolves when the program has ended well. Rejects with an {@link ArtifactFailure}. */
export function programEnd(name: string, child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-limits.artifact.programOutputMax);
  });
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const absent = error.code === 'ENOENT';
      const message = `this node has no program "${name}", which this artifact needs`;
      reject(new ArtifactFailure(absent ? message : error.message));
    });
    child.once('close', (code, signal) => {
      if (code === 0) return resolve();
      const why = lastLines(said) || (signal === null ? `exit code ${code}` : `signal ${signal}`);
      reject(new ArtifactFailure(`${name} failed: ${why}`));
    });
  });
}

/** The last lines of its output, as one line. */
const lastLines = (text: string): string =>
  text
    .trim()
    .split(/\s*\n\s*/)
    .slice(-3)
    .join(' ')
    .slice(0, 400);
