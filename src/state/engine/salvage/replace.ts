import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { repairedBeside } from '../sqlite-files.ts';

/**
 * A repaired store takes the place of the damaged one, which stays under another name.
 *
 * Invariants
 *  T1. The damaged store is moved as it is, and never deleted.
 *  T2. Interrupted between the two moves, no agent begins an empty store: it finds the repaired one beside, and refuses.
 */
export class Replacement {
  readonly #directory: string;
  /** Where the repaired store is written. */
  readonly repaired: string;

  constructor(directory: string) {
    this.#directory = directory;
    this.repaired = repairedBeside(directory);
  }

  /** Whether only the last move is missing of a repair that was interrupted. */
  get isInterrupted(): boolean {
    return !existsSync(this.#directory) && existsSync(this.repaired);
  }

  /** Removes what a repair left that was interrupted earlier. */
  clear(): void {
    rmSync(this.repaired, { recursive: true, force: true });
  }

  /**
   * Moves the damaged store away, and the repaired one into its place. Returns where the damaged one is; a file of that
   * name has the losses.
   */
  take(atMs: number, lost: object | undefined): string {
    const stamp = new Date(atMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
    const damaged = `${this.#directory}.damaged-${stamp}`;
    if (lost !== undefined) {
      writeFileSync(`${damaged}.json`, `${JSON.stringify(lost, null, 2)}\n`, { mode: 0o600 });
    }
    this.#giveToOwner();
    renameSync(this.#directory, damaged);
    this.finish();
    return damaged;
  }

  /** The repair may be run by root, and the agent by another user. */
  #giveToOwner(): void {
    const { uid, gid } = statSync(this.#directory);
    for (const name of ['', ...readdirSync(this.repaired)]) {
      chownSync(join(this.repaired, name), uid, gid);
    }
  }

  /** The last move. */
  finish(): void {
    renameSync(this.repaired, this.#directory);
    const parent = openSync(dirname(this.#directory), 'r');
    fsyncSync(parent);
    closeSync(parent);
  }
}
