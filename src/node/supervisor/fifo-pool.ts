import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, readdirSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateDirectory } from './paths.ts';

/** A pipe from a child: it writes to `writeEnd`, which this process closes once the child has it. */
export interface OutputPipe<T> {
  readonly output: T;
  readonly writeEnd: number;
}

const batchSize = 16;
const prefix = 'pipes-';

/**
 * Named pipes made ahead in batches by one `mkfifo`, and unlinked as soon as they are open. See
 * "Why FIFOs" in DESIGN.md.
 */
export class FifoPool {
  readonly #directory: string;
  #paths: string[] = [];
  #made = 0;
  #filling: Promise<void> | undefined;

  constructor(directory: string) {
    for (const name of readdirSync(directory)) {
      if (name.startsWith(prefix)) rmSync(join(directory, name), { recursive: true, force: true });
    }
    // A name of its own: a predecessor's last `mkfifo` may still be at work.
    this.#directory = join(directory, `${prefix}${process.pid}`);
    makePrivateDirectory(this.#directory);
  }

  /**
   * `read` makes what reads the descriptor that it is given, and closes it. `undefined` where the
   * system has no `mkfifo`: the caller falls back to socket pairs.
   */
  async take<T>(read: (fd: number) => T): Promise<OutputPipe<T> | undefined> {
    if (this.#paths.length === 0) await this.fill();
    const path = this.#paths.pop();
    if (this.#paths.length < batchSize / 2) void this.fill();
    return path === undefined ? undefined : openPipe(path, read);
  }

  /** Makes the next batch, unless that is under way. Never rejects. */
  fill(): Promise<void> {
    this.#filling ??= this.#make().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  #make(): Promise<void> {
    const paths = Array.from({ length: batchSize }, () =>
      join(this.#directory, String(this.#made++)),
    );
    return new Promise<void>((resolve) => {
      // A task with a user of its own may open /dev/stdout again; the directory keeps others out.
      execFile('mkfifo', ['-m', '666', ...paths], (error) => {
        if (error === null) this.#paths.push(...paths);
        resolve();
      });
    }).catch(() => {});
  }
}

function openPipe<T>(path: string, read: (fd: number) => T): OutputPipe<T> {
  // A reader that does not wait for a writer, then a writer that has its reader.
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
