import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, readdirSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pipeLimits } from './limits.ts';
import { makePrivateDirectory } from './paths.ts';

/** A pipe from a child. This process closes `writeEnd` once the child has it. */
export interface OutputPipe<T> {
  readonly output: T;
  readonly writeEnd: number;
}

const prefix = 'pipes-';

/**
 * Named pipes that are made ahead, a batch by one `mkfifo`, and unlinked as soon as they are open.
 * See "Why FIFOs" in DESIGN.md.
 */
export class FifoPool {
  readonly #directory: string;
  #paths: string[] = [];
  #made = 0;
  #filling: Promise<void> | undefined;
  /** How many are kept while nothing starts: more, once a burst of starts has nearly used them up. */
  #kept = pipeLimits.batchSize;
  #resting: NodeJS.Timeout | undefined;

  constructor(directory: string) {
    for (const name of readdirSync(directory)) {
      if (name.startsWith(prefix)) rmSync(join(directory, name), { recursive: true, force: true });
    }
    // A new directory, as a predecessor's last `mkfifo` may still be running.
    this.#directory = join(directory, `${prefix}${process.pid}`);
    makePrivateDirectory(this.#directory);
  }

  /**
   * `read` makes a reader, which owns and closes the descriptor. `undefined` if the system has no
   * `mkfifo`: then the caller uses socket pairs.
   */
  async take<T>(read: (fd: number) => T): Promise<OutputPipe<T> | undefined> {
    if (this.#paths.length === 0) await this.fill();
    const path = this.#paths.pop();
    if (this.#paths.length < pipeLimits.batchSize / 2 && this.#filling === undefined) {
      this.#kept = Math.min(this.#kept + pipeLimits.batchSize, pipeLimits.keptMax);
      void this.fill();
    }
    this.#fillAtRest();
    return path === undefined ? undefined : openPipe(path, read);
  }

  /** Makes the next batch, unless one is being made. Never rejects. */
  fill(count: number = pipeLimits.batchSize): Promise<void> {
    this.#filling ??= this.#makeBatch(count).finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  /** Resolves when no batch is being made: its program would make pipes in a directory that is being removed. */
  async settled(): Promise<void> {
    clearTimeout(this.#resting);
    await this.#filling;
  }

  /** Making pipes takes a program and much of the disk, which starts need more. */
  #fillAtRest(): void {
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => {
      const missing = this.#kept - this.#paths.length;
      if (missing > 0) void this.fill(missing);
    }, pipeLimits.restMs).unref();
  }

  #makeBatch(count: number): Promise<void> {
    const paths = Array.from({ length: count }, () => join(this.#directory, String(this.#made++)));
    return new Promise<void>((resolve) => {
      // Tasks of any user may open /dev/stdout again; the private directory keeps others out.
      execFile('mkfifo', ['-m', '666', ...paths], (error) => {
        if (error === null) this.#paths.push(...paths);
        resolve();
      });
    }).catch(() => {});
  }
}

function openPipe<T>(path: string, read: (fd: number) => T): OutputPipe<T> {
  // The reader must not wait for a writer; the writer then finds its reader.
  const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const writeEnd = openSync(path, constants.O_WRONLY);
    return { output: read(readEnd), writeEnd };
  } catch (error) {
    closeSync(readEnd);
    throw error;
  } finally {
    unlinkSync(path);
  }
}
