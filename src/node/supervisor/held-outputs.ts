import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { fileId } from './proc.ts';

/**
 * Holds a task's output pipes open besides their readers. A reader closes a pipe when the task
 * does, and then the system could give the pipe's number to another file.
 */
export class HeldOutputs {
  /** Ids that identify the pipes among all files until they are released (`fileId`). */
  readonly ids: readonly string[];
  readonly #fds: readonly number[];

  /** A pipe that cannot be held is left out, and no process is found by it. */
  constructor(writeEnds: readonly number[]) {
    this.#fds = writeEnds.flatMap((fd) => {
      try {
        return [openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY | constants.O_NONBLOCK)];
      } catch {
        return [];
      }
    });
    this.ids = this.#fds.map((fd) => fileId(fstatSync(fd)));
  }

  release(): void {
    for (const fd of this.#fds) closeSync(fd);
  }
}
