import { filesOnDisk, type KeptRecord } from './files.ts';
import type { SavedAllocation } from './saved-allocation.ts';
import type { AllocationSurroundings } from './surroundings.ts';

/** The saved fields that this record itself holds. */
type Own = 'version' | 'stopping' | 'expired' | 'cutOff' | 'delivered';

export interface AllocationRecordOptions {
  readonly surroundings: Pick<
    AllocationSurroundings,
    'world' | 'dataDirectory' | 'files' | 'onNotice'
  >;
  readonly id: string;
  /** As the agent before saved it. */
  readonly saved: SavedAllocation | undefined;
  /** The present values of the other saved fields. */
  readonly others: () => Omit<SavedAllocation, Own>;
}

/** The progress of an allocation, and the file from which the next agent goes on. */
export class AllocationRecord {
  /** It was told to end: no task starts any more, except poststop tasks. */
  stopping: boolean;
  /** Its `MaxRunDuration` has passed. */
  expired: boolean;
  /** The node had no contact with servers for its `StopOnClientAfter`. */
  cutOff: boolean;
  readonly #options: AllocationRecordOptions;
  readonly #file: KeptRecord;
  #delivered: boolean;

  constructor(options: AllocationRecordOptions) {
    this.#options = options;
    const { id, saved, surroundings } = options;
    const { dataDirectory, files = filesOnDisk, world, onNotice } = surroundings;
    this.stopping = saved?.stopping ?? false;
    this.expired = saved?.expired ?? false;
    this.cutOff = saved?.cutOff ?? false;
    this.#delivered = saved?.delivered ?? false;
    this.#file = files.newRecord({
      dataDirectory,
      id,
      text: () => JSON.stringify(this.#saved),
      timers: world.timers,
      onError: (error) => onNotice(`allocation ${id} cannot be kept: ${error.message}`),
    });
  }

  get isDelivered(): boolean {
    return this.#delivered;
  }

  /** An agent that does not know so delivers again. */
  noteDelivered(): void {
    this.#delivered = true;
    this.saveSoon();
  }

  /** Resolves when its present state is on disk. Never rejects. */
  save(): Promise<void> {
    return this.#file.save();
  }

  /** Saves its present state before long. */
  saveSoon(): void {
    this.#file.saveSoon();
  }

  /** Failed writes are not repeated from now on, and nothing is written without `save`. */
  close(): void {
    this.#file.close();
  }

  remove(): Promise<void> {
    return this.#file.remove();
  }

  get #saved(): SavedAllocation {
    const { stopping, expired, cutOff } = this;
    const own = { version: 1, stopping, expired, cutOff, delivered: this.#delivered } as const;
    return { ...this.#options.others(), ...own };
  }
}
