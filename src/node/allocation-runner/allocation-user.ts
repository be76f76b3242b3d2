import { type AllocationDirectories, ownSharedDirectories } from '../directories.ts';
import { findSystemUser, type SystemUser } from '../system-user.ts';
import { writeNames } from '../users/names.ts';
import type { SavedAllocation } from './saved-allocation.ts';
import type { Specification } from './specification.ts';
import type { AllocationSurroundings } from './surroundings.ts';

export interface AllocationUserOptions {
  readonly surroundings: Pick<AllocationSurroundings, 'users' | 'drivers' | 'defences'>;
  readonly directories: AllocationDirectories;
  readonly specification: Specification;
  readonly saved: SavedAllocation | undefined;
}

/** An allocation's own user of the machine, for its tasks that name no user and for their files. */
export class AllocationUser {
  readonly #options: AllocationUserOptions;
  /** Whether the allocation has such a user, or may get one. */
  readonly isGiven: boolean;

  constructor(options: AllocationUserOptions) {
    this.#options = options;
    const { surroundings, saved } = options;
    const isFromBefore = saved !== undefined && saved.uid === undefined;
    this.isGiven = surroundings.users !== undefined && !isFromBefore;
    if (typeof saved?.uid === 'number') surroundings.users?.keep(this.#id, saved.uid);
  }

  /** `undefined` before it is leased. */
  get now(): SystemUser | undefined {
    return this.isGiven ? this.#options.surroundings.users?.of(this.#id) : undefined;
  }

  /** The user of such tasks when the allocation has none of its own. */
  get byDefault(): SystemUser | undefined {
    const { defaultUser = '' } = this.#drivers.find((driver) => driver?.usesOwnUser) ?? {};
    return findSystemUser(defaultUser);
  }

  get saved(): Pick<SavedAllocation, 'uid'> {
    return this.isGiven ? { uid: this.now?.uid ?? null } : {};
  }

  /** Whether one of the allocation's tasks is to run as this user. */
  get isNeeded(): boolean {
    return this.isGiven && this.#drivers.some((driver) => driver?.usesOwnUser);
  }

  /** Leases the user before the tasks start. Rejects when they need one and none is free. */
  async take(): Promise<void> {
    const { surroundings, directories } = this.#options;
    if (!this.isNeeded || surroundings.users === undefined) return;
    const user = await surroundings.users.lease(this.#id);
    await ownSharedDirectories(directories, user, surroundings.defences);
    await writeNames(directories.root, user);
  }

  get #id(): string {
    return this.#options.specification.allocation.ID;
  }

  get #drivers() {
    const { surroundings, specification } = this.#options;
    return specification.tasks
      .filter(({ User }) => User === '')
      .map(({ Driver }) => surroundings.drivers.get(Driver));
  }
}
