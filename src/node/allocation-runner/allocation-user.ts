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

/** The user that is one allocation's alone: of its tasks that name none, and of their files. */
export class AllocationUser {
  readonly #options: AllocationUserOptions;
  /** Whether the allocation has one, or gets one. */
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

  /** Who the allocation's tasks are instead where it has none. */
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

  /** Before the allocation's tasks start. Rejects when they need one and there is none to be had. */
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

  /** Of its tasks that name no user. */
  get #drivers() {
    const { surroundings, specification } = this.#options;
    return specification.tasks
      .filter(({ User }) => User === '')
      .map(({ Driver }) => surroundings.drivers.get(Driver));
  }
}
