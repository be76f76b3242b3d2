import { readFile } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import type { Exec } from 'dockerode';
import { delay, type Timers } from '../../../base/ports.ts';
import type { TerminalSize } from '../../../model/exec-session/exec-session.ts';
import { containerExecLimits } from '../../limits.ts';
import { type DriverCommand, type DriverExec, DriverFailure } from '../driver.ts';
import { FrameReader } from './log-frames.ts';
import { type Runtime, reasonOf, statusOf } from './runtime.ts';

/** Starts a command in a container. Rejects with {@link DriverFailure}. */
export async function execInContainer(
  runtime: Runtime,
  timers: Timers,
  containerId: string,
  { command, tty }: DriverCommand,
): Promise<DriverExec> {
  try {
    return await runtime.call(async (client) => {
      const exec = await client.getContainer(containerId).exec({
        Cmd: [...command],
        Tty: tty,
        AttachStdin: true,
        AttachStdout: true,
        AttachStderr: true,
      });
      const stream = await exec.start({ hijack: true, stdin: true, Tty: tty });
      return new ContainerExec({ runtime, timers, containerId, exec, stream, tty });
    });
  } catch (error) {
    if (error instanceof DriverFailure) throw error;
    const isGone = statusOf(error) === 404 || statusOf(error) === 409;
    throw new DriverFailure(isGone ? 'the task is not running' : reasonOf(error), false);
  }
}

interface ExecParts {
  readonly runtime: Runtime;
  readonly timers: Timers;
  readonly containerId: string;
  readonly exec: Exec;
  readonly stream: Duplex;
  readonly tty: boolean;
}

/**
 * Invariants
 *  E1. Output is read only at the reader's pace, so the command waits for its reader.
 *  E2. `close` kills the command's process if the machine shows it, as runtimes have no call for
 *      that. Otherwise the command ends when it uses its input or output, or with its task.
 */
class ContainerExec implements DriverExec {
  readonly output: DriverExec['output'];
  readonly exited: DriverExec['exited'];
  readonly #parts: ExecParts;
  readonly #outputEnded = Promise.withResolvers<void>();
  #size: TerminalSize | undefined;
  #resizing = false;

  constructor(parts: ExecParts) {
    this.#parts = parts;
    const { stream } = parts;
    // The end of the output and the exit code tell the same.
    stream.on('error', () => {});
    stream.on('close', () => this.#outputEnded.resolve());
    stream.on('end', () => this.#outputEnded.resolve());
    this.output = this.#read();
    this.exited = this.#outputEnded.promise.then(() => this.#exitCode());
  }

  async write(data: Uint8Array): Promise<void> {
    const { stream } = this.#parts;
    if (stream.destroyed || stream.writableEnded || stream.write(data)) return;
    await new Promise<void>((resolve) => {
      stream.once('drain', resolve);
      stream.once('close', resolve);
    });
  }

  closeInput(): void {
    // A terminal's input ends only with this character.
    if (this.#parts.tty) void this.write(Uint8Array.of(endOfTransmission));
    else this.#parts.stream.end();
  }

  resize(size: TerminalSize): void {
    this.#size = size;
    if (!this.#resizing) void this.#applySize();
  }

  close(): void {
    void this.#kill().finally(() => this.#parts.stream.destroy());
  }

  async *#read(): DriverExec['output'] extends AsyncIterable<infer T> ? AsyncGenerator<T> : never {
    const { stream, tty } = this.#parts;
    const frames = new FrameReader();
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        if (tty) yield { stream: 'stdout', data: chunk };
        else yield* frames.push(chunk);
      }
    } catch {
      // The connection was lost or closed, so the output ends here.
    } finally {
      this.#outputEnded.resolve();
    }
  }

  /** Tries again, as a command may have no terminal right after its start. */
  async #applySize(): Promise<void> {
    this.#resizing = true;
    const { runtime, timers, exec } = this.#parts;
    for (
      let attempt = 0;
      attempt < containerExecLimits.resizeTriesMax && this.#size !== undefined;
      attempt++
    ) {
      const size = this.#size;
      const isDone = await runtime
        .call(() => exec.resize({ h: size.height, w: size.width }))
        .then(
          () => true,
          // One runtime answers success with 201, which the client takes for an error.
          (error) => statusOf(error) === 201,
        );
      if (isDone && this.#size === size) this.#size = undefined;
      if (!isDone) await delay(timers, containerExecLimits.pollMs);
    }
    this.#resizing = false;
  }

  async #exitCode(): Promise<{ readonly exitCode: number }> {
    const { runtime, timers, exec } = this.#parts;
    for (let attempt = 0; attempt < containerExecLimits.endTriesMax; attempt++) {
      const found = await runtime.call(() => exec.inspect()).catch(() => undefined);
      // The task has ended, and the command with it.
      if (found === undefined) return { exitCode: killedCode };
      if (!found.Running && found.ExitCode !== null) return { exitCode: found.ExitCode };
      await delay(timers, containerExecLimits.pollMs);
    }
    return { exitCode: killedCode };
  }

  /** E2. */
  async #kill(): Promise<void> {
    const { runtime, exec, containerId } = this.#parts;
    const found = await runtime.call(() => exec.inspect()).catch(() => undefined);
    if (found === undefined || !found.Running || !(found.Pid > 1)) return;
    const cgroup = await readFile(`/proc/${found.Pid}/cgroup`, 'utf8').catch(() => '');
    if (!cgroup.includes(containerId)) return;
    try {
      process.kill(found.Pid, 'SIGKILL');
    } catch {
      // It has ended, or belongs to another user.
    }
  }
}

const endOfTransmission = 4;
const killedCode = 137;
