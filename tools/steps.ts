/** Runs named steps one after the other, each with its title, time and clear end. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Step {
  readonly title: string;
  /** A Node program in this checkout, and its arguments. */
  readonly command: readonly string[];
  /** Variables beside those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface StepResult {
  readonly passed: boolean;
  readonly exitCode: number;
}

const root = fileURLToPath(new URL('..', import.meta.url));

/** Prints the step's whole output as it comes. Never throws: a step that cannot start has failed. */
export async function runStep(step: Step): Promise<StepResult> {
  console.log(`── ${step.title}`);
  const startedMs = performance.now();
  const exitCode = await exitCodeOf(step);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const end = exitCode === 0 ? 'passed' : `FAILED with exit code ${exitCode}`;
  console.log(`${exitCode === 0 ? '✓' : '✗'} ${step.title}: ${end} (${seconds} s)\n`);
  return { passed: exitCode === 0, exitCode };
}

let stopped = false;

/** Whether a signal asked to stop: no further step should start. */
export function isStopped(): boolean {
  return stopped;
}

function exitCodeOf({ command, environment }: Step): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...command], {
      cwd: root,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const stop = (signal: NodeJS.Signals): void => {
      stopped = true;
      child.kill(signal);
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    for (const signal of signals) process.on(signal, stop);
    const ended = (code: number): void => {
      for (const signal of signals) process.off(signal, stop);
      resolve(code);
    };
    child.on('error', (error) => {
      console.error(error.message);
      ended(127);
    });
    child.on('exit', (code, signal) => {
      if (signal !== null) console.error(`ended by ${signal}`);
      ended(code ?? 1);
    });
  });
}
