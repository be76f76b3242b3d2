import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { contains, showUidRange, type UidRange } from '../../model/node/uid-range.ts';
import { allDefences, type Defences } from '../defences.ts';
import { allocationDirectories } from '../directories.ts';
import { readJson, replaceFile } from '../files.ts';
import type { SystemUser } from '../system-user.ts';
import { uidsOfProcesses } from './machine-users.ts';
import { nextUid } from './uid-choice.ts';
import type { UidRegistry } from './uid-registry.ts';

export interface UserLeasesOptions {
  readonly dataDirectory: string;
  readonly range: UidRange;
  readonly registry: UidRegistry;
  /** Whether the node still has an allocation, running or over. */
  readonly isKnown: (allocation: string) => boolean;
  readonly defences?: Defences | undefined;
  readonly onNotice: (sentence: string) => void;
}

/** The leases of a node, in a file. */
interface SavedLeases {
  readonly version: 1;
  readonly slices: readonly UidRange[];
  readonly last: number;
  /** User ids by allocation. */
  readonly leases: Readonly<Record<string, number>>;
}

/**
 * Gives each allocation of a node a user of its own, and a group of the same number.
 *
 * Invariants
 *  L1. No two allocations on this machine have the same id, whatever their agents: a node leases
 *      from slices that its data directory has claimed in the machine's registry.
 *  L2. A lease is on disk before its id is used. If it cannot be written, there is no lease.
 *  L3. A lease lasts until the node no longer knows the allocation, its directory is gone and no
 *      process has the id. Until then the next agent finds the lease.
 */
export class UserLeases {
  readonly #options: UserLeasesOptions;
  readonly #leases: Map<string, number>;
  readonly #held: Set<number>;
  #slices: readonly UidRange[];
  #last: number;
  #writing: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  private constructor(options: UserLeasesOptions, saved: SavedLeases) {
    this.#options = options;
    this.#leases = new Map(Object.entries(saved.leases));
    this.#held = new Set(this.#leases.values());
    this.#slices = saved.slices;
    this.#last = saved.last;
  }

  static async open(options: UserLeasesOptions): Promise<UserLeases> {
    const { dataDirectory, registry, onNotice } = options;
    const saved = await readLeases(dataDirectory).catch((error: Error) => {
      onNotice(`the saved user ids are damaged: ${error.message}`);
      return undefined;
    });
    if (saved === undefined) return new UserLeases(options, nothing);
    try {
      return new UserLeases(options, { ...saved, slices: registry.hold(saved.slices) });
    } catch (error) {
      onNotice((error as Error).message);
      return new UserLeases(options, saved);
    }
  }

  /** `undefined`: the allocation has no lease, or another agent has claimed its id meanwhile. */
  of(allocation: string): SystemUser | undefined {
    const uid = this.#leases.get(allocation);
    const isOurs = uid !== undefined && this.#slices.some((slice) => contains(slice, uid));
    return isOurs ? { uid, gid: uid } : undefined;
  }

  /** Takes over an id from an allocation's own record. */
  keep(allocation: string, uid: number): void {
    if (this.#leases.has(allocation) || this.#held.has(uid)) return;
    this.#leases.set(allocation, uid);
    this.#held.add(uid);
    void this.#saveLeases().catch((error: Error) => this.#options.onNotice(error.message));
  }

  /** The allocation's user, leased if it has none. Rejects with the reason when none is free. */
  async lease(allocation: string): Promise<SystemUser> {
    if (this.#leases.has(allocation)) return this.#findUser(allocation);
    await this.#leaseUid(allocation);
    try {
      await this.#saveLeases();
    } catch (error) {
      this.#dropLease(allocation);
      throw new Error(`its user id cannot be kept: ${(error as Error).message}`, { cause: error });
    }
    return this.#findUser(allocation);
  }

  /** Finds the user of a lease. The saved slices may be lost, so the registry is asked too. */
  #findUser(allocation: string): SystemUser {
    if (this.of(allocation) === undefined) {
      this.#slices = this.#options.registry.hold(this.#slices);
    }
    const user = this.of(allocation);
    if (user !== undefined) return user;
    const uid = this.#leases.get(allocation);
    throw new Error(`its user id ${uid} is claimed by another agent of this machine`);
  }

  /** L3: returns the ids that nobody uses any more. Never rejects. */
  async sweep(): Promise<void> {
    const { dataDirectory, isKnown, onNotice, defences = allDefences } = this.#options;
    const over = [...this.#leases.keys()].filter((allocation) => !isKnown(allocation));
    if (over.length === 0) return;
    try {
      const inUse = await uidsOfProcesses();
      let dropped = 0;
      for (const allocation of over) {
        const { root } = allocationDirectories(dataDirectory, allocation);
        const isLeft = inUse.has(this.#leases.get(allocation)!) || (await isThere(root));
        if (isLeft && defences.keptUsers) continue;
        if (isKnown(allocation)) continue;
        this.#dropLease(allocation);
        dropped++;
      }
      if (dropped > 0) await this.#saveLeases();
    } catch (error) {
      // The next removal of an allocation tries again.
      onNotice(`user ids could not be given back: ${(error as Error).message}`);
    }
  }

  /** The data directory is going to be removed. Never throws. */
  release(): void {
    if (this.#slices.length === 0) return;
    try {
      this.#options.registry.release();
    } catch (error) {
      // Others may take the claims of a missing directory, once they need ids.
      this.#options.onNotice((error as Error).message);
    }
  }

  async #leaseUid(allocation: string): Promise<void> {
    const { range, defences = allDefences } = this.#options;
    if (!defences.keptUsers) await this.#reuseUids();
    let uid = this.#nextFreeUid();
    if (uid === undefined) {
      await this.sweep();
      if (this.#nextFreeUid() === undefined) await this.#addSlice();
      uid = this.#nextFreeUid();
    }
    if (uid === undefined) {
      throw new Error(
        `no user id of isolation.uid_range ${showUidRange(range)} is free: ` +
          `this node's allocations have ${this.#leases.size}, and other agents, users of the machine ` +
          'or their entries in /etc/subuid the rest',
      );
    }
    this.#leases.set(allocation, uid);
    this.#held.add(uid);
    this.#last = uid;
  }

  /**
   * Leases without L3, for the escape tests: the next allocation gets the first id without a task,
   * and the files of that id.
   */
  async #reuseUids(): Promise<void> {
    await this.sweep();
    this.#last = (this.#slices[0]?.start ?? 0) - 1;
  }

  /** A free id of the range that is configured now; leases of an earlier range stay. */
  #nextFreeUid(): number | undefined {
    const { range } = this.#options;
    const slices = this.#slices.filter(({ start }) => contains(range, start));
    return nextUid(slices, (uid) => this.#held.has(uid), this.#last);
  }

  /** Adds a slice: a new claim, or a claim that an earlier agent could not save. */
  async #addSlice(): Promise<void> {
    const { registry, range } = this.#options;
    this.#slices = registry.hold(this.#slices);
    const inUse = await uidsOfProcesses();
    if (this.#nextFreeUid() !== undefined) return;
    const slice = registry.claim(range, inUse);
    if (slice !== undefined) this.#slices = [...this.#slices, slice];
  }

  #dropLease(allocation: string): void {
    const uid = this.#leases.get(allocation);
    this.#leases.delete(allocation);
    if (uid !== undefined) this.#held.delete(uid);
  }

  /** Calls during a write share the next write. */
  #saveLeases(): Promise<void> {
    this.#next ??= this.#writing
      .catch(() => {})
      .then(() => {
        this.#writing = this.#next!;
        this.#next = undefined;
        return replaceFile(pathOf(this.#options.dataDirectory), `${JSON.stringify(this.#saved)}\n`);
      });
    return this.#next;
  }

  get #saved(): SavedLeases {
    const leases = Object.fromEntries(this.#leases);
    return { version: 1, slices: this.#slices, last: this.#last, leases };
  }
}

const nothing: SavedLeases = { version: 1, slices: [], last: 0, leases: {} };

const pathOf = (dataDirectory: string): string => join(dataDirectory, 'user-leases.json');

async function readLeases(dataDirectory: string): Promise<SavedLeases | undefined> {
  const value = (await readJson(pathOf(dataDirectory))) as Partial<SavedLeases> | undefined;
  if (value === undefined) return undefined;
  const { version, slices, last, leases } = value;
  const isWhole =
    version === 1 &&
    Array.isArray(slices) &&
    typeof last === 'number' &&
    Object.values(leases ?? { missing: '' }).every(Number.isInteger);
  if (!isWhole) throw new Error(`${pathOf(dataDirectory)} is not what this agent writes`);
  return value as SavedLeases;
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
