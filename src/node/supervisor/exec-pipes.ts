import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import type { ExecCommand, ExecPlan } from './exec-command.ts';
import type { FifoPool } from './fifo-pool.ts';
import { firstSignal } from './protocol.ts';
import { startFailure } from './task-process.ts';

const readable = (fd: number): Readable => new Socket({ fd, readable: true, writable: false });

/** Starts a command with pipes. Rejects with `SupervisorRefusal`. */
export async function startWithPipes(plan: ExecPlan, pool: FifoPool): Promise<ExecCommand> {
  const [out, err] = [await pool.take(readable), await pool.take(readable)];
  try {
    const child = spawn(plan.program, [...plan.args], {
      cwd: plan.directory,
      env: { ...plan.env },
      detached: true,
      // No named pipe for the input: opened again after its end, it would wait for ever.
      stdio: ['pipe', out?.writeEnd ?? 'pipe', err?.writeEnd ?? 'pipe'],
      ...plan.owner,
    });
    if (child.pid === undefined) {
      throw await new Promise<Error>((resolve) => child.once('error', resolve));
    }
    child.on('error', () => {});
    const ended = new Promise<number>((resolve) => {
      child.once('exit', (code, signal) =>
        resolve(code ?? firstSignal + constants.signals[signal!]),
      );
    });
    const sources = [
      { stream: 'stdout', source: out?.output ?? child.stdout! },
      { stream: 'stderr', source: err?.output ?? child.stderr! },
    ] as const;
    const input = child.stdin!;
    // A command may leave input unread.
    input.on('error', () => {});
    return {
      pid: child.pid,
      sources,
      input,
      ended,
      resize: () => {},
      release: () => {
        for (const { source } of sources) source.destroy();
        input.destroy();
      },
    };
  } catch (error) {
    for (const pipe of [out, err]) pipe?.output.destroy();
    throw startFailure(plan.program, error as NodeJS.ErrnoException);
  } finally {
    for (const pipe of [out, err]) if (pipe !== undefined) closeSync(pipe.writeEnd);
  }
}
