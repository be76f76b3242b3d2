import { LatestFile } from '../files.ts';
import {
  removeSavedAllocation,
  type SavedAllocation,
  savedAllocationPath,
} from './saved-allocation.ts';
import type { AllocationSurroundings } from './surroundings.ts';

/** What is kept of an allocation and is its runner's own to say. */
type Own = 'version' | 'stopping' | 'expired' | 'delivered';

export interface AllocationRecordOptions {
  readonly surroundings: Pick<AllocationSurroundings, 'world' | 'dataDirectory' | 'onNotice'>;
  readonly id: string;
  /** What the agent before kept of it. */
  readonly saved: SavedAllocation | undefined;
  /** What others have to say of it, as it is now. */
  readonly others: () => Omit<SavedAllocation, Own>;
}

/** How far an allocation has come, and its file, from which the next agent goes on. */
export class AllocationRecord {
  /** Told to end: nothing of it starts again, except what cleans up. */
  stopping: boolean;
  /** It had run for its `MaxRunDuration`. */
  expired: boolean;
  readonly #options: AllocationRecordOptions;
  readonly #file: LatestFile;
  #delivered: boolean;

  constructor(options: AllocationRecordOptions) {
    this.#options = options;
    const { id, saved, surroundings } = options;
    const { dataDirectory, world, onNotice } = surroundings;
    this.stopping = saved?.stopping ?? false;
    this.expired = saved?.expired ?? false;
    this.#delivered = saved?.delivered ?? false;
    this.#file = new LatestFile(
      savedAllocationPath(dataDirectory, id),
      () => JSON.stringify(this.#saved),
      world.timers,
      (error) => onNotice(`allocation ${id} cannot be kept: ${error.message}`),
    );
  }

  /** Whether the servers have its last status. */
  get isDelivered(): boolean {
    return this.#delivered;
  }

  async noteDelivered(): Promise<void> {
    this.#delivered = true;
    await this.save();
  }

  /** Resolves when it is on disk as it is now. Never rejects. */
  save(): Promise<void> {
    return this.#file.save();
  }

  /** What cannot be written is not tried again from now on. */
  close(): void {
    this.#file.close();
  }

  remove(): Promise<void> {
    const { id, surroundings } = this.#options;
    return removeSavedAllocation(surroundings.dataDirectory, id);
  }

  get #saved(): SavedAllocation {
    const { stopping, expired } = this;
    const own = { version: 1, stopping, expired, delivered: this.#delivered } as const;
    return { ...this.#options.others(), ...own };
  }
}
