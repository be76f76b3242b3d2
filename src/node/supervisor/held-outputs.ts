import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { fileId } from './proc.ts';

/**
 * The pipes that a task prints to, held open beside who reads them: a reader closes its end with the
 * task's, and then the system gives the pipe's number to the next file that anybody makes.
 */
export class HeldOutputs {
  /** What tells them from all other files, until they are released (`fileId`). */
  readonly ids: readonly string[];
  readonly #fds: readonly number[];

  /** What cannot be held is left out: nothing is known by it. */
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
