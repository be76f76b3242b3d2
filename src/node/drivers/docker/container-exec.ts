import { readFile } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import type { Exec } from 'dockerode';
import { delay, type Timers } from '../../../base/ports.ts';
import type { TerminalSize } from '../../../model/exec-session/exec-session.ts';
import { type DriverCommand, type DriverExec, DriverFailure } from '../driver.ts';
import { FrameReader } from './log-frames.ts';
import { type Runtime, reasonOf, statusOf } from './runtime.ts';

const resizeTriesMax = 10;
const pollMs = 50;
/** A runtime that still calls a command running so long after its output has ended is not believed. */
const endTriesMax = 200;

/** Begins a command in a container. Rejects with {@link DriverFailure}. */
export async function execInContainer(
  runtime: Runtime,
  timers: Timers,
  containerId: string,
  { command, tty }: DriverCommand,
): Promise<DriverExec> {
  try {
    return await runtime.call(async (client) => {
      const exec = await client.getContainer(containerId).exec({
        ...{ Cmd: [...command], Tty: tty },
        ...{ AttachStdin: true, AttachStdout: true, AttachStderr: true },
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
 *  E1. What is not read is not asked for: the command waits for its reader.
 *  E2. `close` ends the command itself where the machine shows its process. Runtimes have no call
 *      for that; otherwise it ends when it uses its input or output, or with its task.
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
    // Told by the end of the output and by the exit code.
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
    // A terminal has no end of input but the key for it.
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
      // The connection was lost or closed: what came is what there is.
    } finally {
      this.#outputEnded.resolve();
    }
  }

  /** Right after its start a command may have no terminal yet. */
  async #applySize(): Promise<void> {
    this.#resizing = true;
    const { runtime, timers, exec } = this.#parts;
    for (let attempt = 0; attempt < resizeTriesMax && this.#size !== undefined; attempt++) {
      const size = this.#size;
      const isDone = await runtime
        .call(() => exec.resize({ h: size.height, w: size.width }))
        .then(
          () => true,
          // One runtime says "created" where the other says "fine".
          (error) => statusOf(error) === 201,
        );
      if (isDone && this.#size === size) this.#size = undefined;
      if (!isDone) await delay(timers, pollMs);
    }
    this.#resizing = false;
  }

  async #exitCode(): Promise<{ readonly exitCode: number }> {
    const { runtime, timers, exec } = this.#parts;
    for (let attempt = 0; attempt < endTriesMax; attempt++) {
      const found = await runtime.call(() => exec.inspect()).catch(() => undefined);
      // The task is gone, and the command with it.
      if (found === undefined) return { exitCode: killedCode };
      if (!found.Running && found.ExitCode !== null) return { exitCode: found.ExitCode };
      await delay(timers, pollMs);
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
      // It has ended, or is another user's.
    }
  }
}

const endOfTransmission = 4;
const killedCode = 137;
