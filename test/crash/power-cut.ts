/**
 * Power cuts: after an agent was killed, the writes to its store that were not synced get lost, in whole or in part.
 * A library in C, which the agent is started with, keeps their old content (`unsynced-writes.c`).
 */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Need } from '../../src/base/not-run.test-helper.ts';
import type { Choices } from '../support/random.ts';

/** A disk writes such pieces whole. */
const sectorBytes = 512;
const headerBytes = 24;
const armedName = 'armed';

export class PowerCuts {
  readonly #journals: string;
  readonly #library: string;
  /** Sectors that got their old content back. */
  lostSectors = 0;
  /** Power cuts at which at least one sector was lost, and another one was not. */
  torn = 0;

  readonly #lies: boolean;

  /**
   * With `lies` the disk says that it has synced, and has not: a cut takes all that was written since the start.
   * @throws Error without a compiler of C
   */
  constructor(folder: string, lies: boolean) {
    this.#lies = lies;
    this.#journals = join(folder, 'unsynced');
    this.#library = join(folder, 'unsynced-writes.so');
    mkdirSync(this.#journals);
    const source = fileURLToPath(new URL('unsynced-writes.c', import.meta.url));
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', this.#library, source, '-ldl']);
  }

  /** Of the agent. */
  get environment(): Record<string, string> {
    return {
      LD_PRELOAD: this.#library,
      UNSYNCED_JOURNALS: this.#journals,
      ...(this.#lies && { UNSYNCED_LIES: '1' }),
    };
  }

  /** Kills the agent right after so many more writes to its store. */
  arm(writes: number): void {
    const armed = join(this.#journals, armedName);
    writeFileSync(`${armed}.next`, String(writes));
    renameSync(`${armed}.next`, armed);
  }

  /** Cuts the power: takes unsynced writes from the store of a killed agent. */
  cut(directory: string, choices: Choices): void {
    const paths = new Map(
      readdirSync(directory).map((name) => {
        const path = join(directory, name);
        return [String(statSync(path).ino), path];
      }),
    );
    // All is lost, nothing, or each sector by chance.
    const keptPart = this.#lies ? 0 : [0, 1, choices.fraction()][choices.below(3)]!;
    let [lost, kept] = [0, 0];
    for (const name of readdirSync(this.#journals)) {
      const journal = join(this.#journals, name);
      const path = paths.get(name);
      if (path !== undefined) {
        const undone = undo(
          path,
          entriesOf(readFileSync(journal)),
          () => choices.fraction() < keptPart,
        );
        lost += undone.lost;
        kept += undone.kept;
      }
      rmSync(journal);
    }
    this.lostSectors += lost;
    if (lost > 0 && kept > 0) this.torn++;
  }
}

/** A write that was not synced. */
interface Entry {
  readonly offset: number;
  readonly length: number;
  readonly sizeBefore: number;
  readonly old: Buffer;
}

/** The last entry may be cut off by the kill: then its write was never begun. */
function entriesOf(journal: Buffer): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at + headerBytes <= journal.length; ) {
    const oldBytes = journal.readUInt32LE(at + 20);
    const end = at + headerBytes + oldBytes;
    if (end > journal.length) break;
    entries.push({
      offset: Number(journal.readBigInt64LE(at)),
      sizeBefore: Number(journal.readBigInt64LE(at + 8)),
      length: journal.readUInt32LE(at + 16),
      old: journal.subarray(at + headerBytes, end),
    });
    at = end;
  }
  return entries;
}

/**
 * Undoes writes from the last to the first, sector by sector. A sector whose later write is kept has the content of
 * that write, so earlier writes to it are out of sight.
 */
function undo(path: string, entries: readonly Entry[], isKept: () => boolean) {
  const file = openSync(path, 'r+');
  const kept = new Set<number>();
  let lost = 0;
  let size = entries[0]?.sizeBefore ?? 0;
  for (const { offset, length, old } of entries.toReversed()) {
    for (let start = offset; start < offset + length; ) {
      const sector = Math.floor(start / sectorBytes);
      const end = Math.min((sector + 1) * sectorBytes, offset + length);
      if (kept.has(sector) || isKept()) {
        kept.add(sector);
        size = Math.max(size, end);
      } else {
        const before = Buffer.alloc(end - start);
        before.set(old.subarray(start - offset, end - offset));
        writeSync(file, before, 0, before.length, start);
        lost++;
      }
      start = end;
    }
  }
  if (entries.length > 0 && statSync(path).size > size) ftruncateSync(file, size);
  closeSync(file);
  return { lost, kept: kept.size };
}

export const compiler: Need = {
  isMet: hasCompiler(),
  otherwise: 'they need a compiler of C (cc)',
};

function hasCompiler(): boolean {
  try {
    execFileSync('cc', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
