import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { contains, overlaps, type UidRange } from '../../model/node/uid-range.ts';
import { mappedRanges, namedRanges } from './machine-users.ts';
import { freeSlice } from './uid-choice.ts';

/** Where every agent of a machine looks, unless it is a test. */
export const machineRegistry = '/var/lib/roster-uids';

interface Claim extends UidRange {
  readonly directory: string;
}

/**
 * Which agent of this machine has which user ids: slices, each claimed by the data directory that
 * leases from it. One file of the machine, which only root reads.
 *
 * Invariants
 *  G1. Two claims never overlap: each is made in a transaction that has seen all others.
 *  G2. A claim lasts as long as its data directory, also while that directory's agent is away: files
 *      there have its ids. One whose directory is gone lasts until somebody needs the ids.
 */
export class UidRegistry {
  readonly #place: string;
  readonly #directory: string;

  /** `directory`: whose claims are made here. */
  constructor(place: string, directory: string) {
    this.#place = place;
    this.#directory = realpathSync(directory);
  }

  /** Another slice of the range, or `undefined` when all are taken. `inUse`: by processes. */
  claim(range: UidRange, inUse: ReadonlySet<number>): UidRange | undefined {
    return this.#transaction((database) => {
      const mapped = mappedRanges();
      const named = namedRanges();
      const claims = claimsIn(database);
      const isUsed = (claim: Claim): boolean => [...inUse].some((uid) => contains(claim, uid));
      const present = claims.filter((claim) => exists(claim.directory) || isUsed(claim));
      const slice =
        freeSlice({ range, mapped, taken: [...named, ...claims] }) ??
        freeSlice({ range, mapped, taken: [...named, ...present] });
      if (slice === undefined) return undefined;
      this.#take(database, claims, slice);
      return slice;
    });
  }

  /**
   * Those of `slices` that are this directory's, also when the registry or the directory has come
   * back from elsewhere; and whatever else is. A slice of a directory that is there is not: this one
   * is a copy of it, then.
   */
  hold(slices: readonly UidRange[]): readonly UidRange[] {
    return this.#transaction((database) => {
      for (const slice of slices) {
        const claims = claimsIn(database);
        const others = claims.filter(
          ({ directory }) => directory !== this.#directory && exists(directory),
        );
        if (!others.some((one) => overlaps(one, slice))) this.#take(database, claims, slice);
      }
      return claimsIn(database)
        .filter(({ directory }) => directory === this.#directory)
        .map(({ start, count }) => ({ start, count }));
    });
  }

  /** The directory is going to be removed. */
  release(): void {
    this.#transaction((database) => {
      database.prepare('DELETE FROM claims WHERE directory = ?').run(this.#directory);
    });
  }

  /** Instead of whatever overlaps with it, which its caller has found to be nobody's. */
  #take(database: DatabaseSync, claims: readonly Claim[], slice: UidRange): void {
    for (const old of claims.filter((one) => overlaps(one, slice))) {
      database.prepare('DELETE FROM claims WHERE start = ?').run(old.start);
    }
    database
      .prepare('INSERT INTO claims (start, count, directory) VALUES (?, ?, ?)')
      .run(slice.start, slice.count, this.#directory);
  }

  #transaction<T>(act: (database: DatabaseSync) => T): T {
    let database: DatabaseSync | undefined;
    try {
      mkdirSync(this.#place, { recursive: true, mode: 0o700 });
      database = new DatabaseSync(join(this.#place, 'claims.db'), { timeout: waitMs });
      database.exec('BEGIN IMMEDIATE');
      database.exec(schema);
      const result = act(database);
      database.exec('COMMIT');
      return result;
    } catch (error) {
      const { message } = error as Error;
      throw new Error(`the registry of user ids in ${this.#place} cannot be used: ${message}`, {
        cause: error,
      });
    } finally {
      database?.close();
    }
  }
}

/** Far longer than another agent takes. */
const waitMs = 5000;

const schema = `CREATE TABLE IF NOT EXISTS claims
  (start INTEGER PRIMARY KEY, count INTEGER NOT NULL, directory TEXT NOT NULL) STRICT`;

const claimsIn = (database: DatabaseSync): readonly Claim[] =>
  database.prepare('SELECT start, count, directory FROM claims').all() as unknown as Claim[];

const exists = (directory: string): boolean =>
  statSync(directory, { throwIfNoEntry: false }) !== undefined;
