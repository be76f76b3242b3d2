import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { contains, overlaps, type UidRange } from '../../model/node/uid-range.ts';
import { uidLimits } from '../limits.ts';
import { mappedRanges, namedRanges } from './machine-users.ts';
import { freeSlice } from './uid-choice.ts';

/** The registry that all agents of a machine share, except in tests. */
export const machineRegistry = '/var/lib/roster-uids';

interface Claim extends UidRange {
  readonly directory: string;
}

/**
 * Which agent of this machine has which user ids: slices of ids, each claimed for the data
 * directory that leases from it. One file of the machine, which only root reads.
 *
 * Invariants
 *  G1. Two claims never overlap: each is made in a transaction that sees all others.
 *  G2. A claim lasts as long as its data directory, also while no agent runs on it, as files there
 *      have its ids. Once the directory is gone, others may take its ids.
 */
export class UidRegistry {
  readonly #place: string;
  readonly #directory: string;

  /** `directory`: the data directory that claims are made for. */
  constructor(place: string, directory: string) {
    this.#place = place;
    this.#directory = realpathSync(directory);
  }

  /** Claims another slice; `undefined`: all are taken. `inUse`: ids of processes. */
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
      this.#replaceClaims(database, claims, slice);
      return slice;
    });
  }

  /**
   * Claims those of `slices` that no other directory holds, and resolves with all slices of this
   * directory: the registry or the directory may have been restored from a backup. A slice of
   * another existing directory is left out: then this directory is a copy of it.
   */
  hold(slices: readonly UidRange[]): readonly UidRange[] {
    return this.#transaction((database) => {
      for (const slice of slices) {
        const claims = claimsIn(database);
        const others = claims.filter(
          ({ directory }) => directory !== this.#directory && exists(directory),
        );
        if (!others.some((one) => overlaps(one, slice)))
          this.#replaceClaims(database, claims, slice);
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

  /** Replaces all overlapping claims, which the caller has found to be unused. */
  #replaceClaims(database: DatabaseSync, claims: readonly Claim[], slice: UidRange): void {
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
      database = new DatabaseSync(join(this.#place, 'claims.db'), {
        timeout: uidLimits.registryWaitMs,
      });
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

const schema = `CREATE TABLE IF NOT EXISTS claims
  (start INTEGER PRIMARY KEY, count INTEGER NOT NULL, directory TEXT NOT NULL) STRICT`;

const claimsIn = (database: DatabaseSync): readonly Claim[] =>
  database.prepare('SELECT start, count, directory FROM claims').all() as unknown as Claim[];

const exists = (directory: string): boolean =>
  statSync(directory, { throwIfNoEntry: false }) !== undefined;
