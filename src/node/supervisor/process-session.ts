import type { Readable } from 'node:stream';
import type { ExecOutput, ExecSession } from '../../model/exec-session/exec-session.ts';
import { limits } from '../../model/limits.ts';
import type { ExecCommand } from './exec-command.ts';
import { outputLimits } from './limits.ts';
import { readStat } from './proc.ts';
import type { SweepTarget } from './sweep.ts';

/**
 * A command beside a task as a session.
 *
 * Invariants
 *  E1. At most one chunk of each output stream waits here; then the command's writes wait.
 *  E2. When the command ends or its client leaves, all processes that it started are killed.
 *  E3. When the client leaves, the command is asked to end first, with SIGHUP as from a closed
 *      terminal.
 */
export class ProcessSession implements ExecSession {
  readonly output: AsyncIterable<ExecOutput>;
  readonly exited: Promise<{ readonly exitCode: number }>;
  readonly gone: Promise<void>;

  readonly #command: ExecCommand;
  readonly #target: SweepTarget;
  readonly #sweep: (target: SweepTarget) => Promise<void>;
  #hasEnded = false;
  #isClosed = false;
  /** Outputs in order; the first one's chunk is with the reader. */
  readonly #queue: (ExecOutput & { readonly source: Readable })[] = [];
  #open: number;
  #wake: () => void = () => {};
  #graceTimer: NodeJS.Timeout | undefined;

  constructor(
    command: ExecCommand,
    sweep: (target: SweepTarget) => Promise<void>,
    of: { readonly allocId: string; readonly taskName: string; readonly execId: string },
  ) {
    this.#command = command;
    this.#sweep = sweep;
    const startTime = readStat(command.pid)?.startTime ?? '';
    this.#target = { ...of, pid: command.pid, startTime };
    this.#open = command.sources.length;
    this.#listen();
    this.output = this.#mergedOutput();
    this.exited = command.ended.then((exitCode) => ({ exitCode }));
    this.gone = command.ended.then(() => this.#afterEnd());
  }

  async write(bytes: Uint8Array): Promise<void> {
    const { input } = this.#command;
    if (!input.writable || input.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        for (const event of ['drain', 'close', 'error']) input.off(event, done);
        resolve();
      };
      for (const event of ['drain', 'close', 'error']) input.on(event, done);
    });
  }

  closeInput(): void {
    const { input } = this.#command;
    if (input.writable) input.end();
  }

  resize(size: { readonly height: number; readonly width: number }): void {
    if (!this.#hasEnded) this.#command.resize(size);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#hasEnded) {
      this.#command.release();
      return;
    }
    this.#signal('SIGHUP');
    this.#graceTimer = setTimeout(() => this.#signal('SIGKILL'), limits.exec.endGraceMs);
    // Discards further output.
    for (const { source } of this.#command.sources) source.resume();
  }

  /** E2. */
  kill(): void {
    if (!this.#hasEnded) this.#signal('SIGKILL');
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid, startTime } = this.#target;
    if (readStat(pid)?.startTime !== startTime) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // It has just ended.
    }
  }

  async #afterEnd(): Promise<void> {
    this.#hasEnded = true;
    clearTimeout(this.#graceTimer);
    await this.#sweep(this.#target);
    if (this.#isClosed) this.#command.release();
    else this.#watchDrain();
  }

  /** Gives up on an output that stays open, unless it waits for the reader. */
  #watchDrain(): void {
    const timer = setInterval(() => {
      const open = this.#command.sources.some(({ source }) => !source.closed);
      if (open && this.#queue.length > 0 && !this.#isClosed) return;
      clearInterval(timer);
      this.#command.release();
    }, outputLimits.drainTimeoutMs);
    timer.unref();
  }

  /** Called at once, as an end without a listener is lost. */
  #listen(): void {
    for (const { stream, source } of this.#command.sources) {
      source.on('error', () => {});
      source.on('data', (data: Buffer) => {
        if (this.#isClosed) return;
        source.pause();
        this.#queue.push({ stream, data, source });
        this.#wake();
      });
      source.on('close', () => {
        this.#open--;
        this.#wake();
      });
      // Closes an output at its end, even if its other half is open.
      source.on('end', () => source.destroy());
    }
  }

  async *#mergedOutput(): AsyncGenerator<ExecOutput, void> {
    while (this.#queue.length > 0 || this.#open > 0) {
      const next = this.#queue[0];
      if (next === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      const { stream, data, source } = next;
      yield { stream, data };
      this.#queue.shift();
      source.resume();
    }
  }
}
