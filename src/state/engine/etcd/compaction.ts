import type { Clock } from '../../../base/ports.ts';
import { type EtcdClient, EtcdError } from './client.ts';
import { isTermOf, type LogHead, textBytes } from './head.ts';
import type { Keys } from './keys.ts';
import type { EtcdLimits } from './limits.ts';

export interface CompactionOptions {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly limits: EtcdLimits;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/**
 * Has etcd forget its history. The log needs only the revisions that readers are reading.
 *
 * A compaction takes no comparison. So its revision is that of a mark, a write under the epoch, and it comes when
 * the mark is old. The compaction of a former leader then deletes no revision that another server needs.
 */
export class Compaction {
  readonly #options: CompactionOptions;
  #mark: { readonly revision: number; readonly atMs: number } | undefined;
  #isDenied = false;

  constructor(options: CompactionOptions) {
    this.#options = options;
  }

  /** Compacts up to the last mark when it is old enough, and sets the next mark. */
  async step(head: LogHead): Promise<void> {
    const { client, keys, clock, limits } = this.#options;
    const nowMs = clock.monotonicMs();
    if (this.#isDenied || (this.#mark && nowMs - this.#mark.atMs < limits.historyMs)) return;
    const mark = this.#mark;
    const value = textBytes(`${head.server} ${head.epoch}`);
    const { succeeded, header } = await client.transact({
      compare: isTermOf(keys.head, head),
      success: [{ kind: 'put', key: keys.compaction, value }],
    });
    if (!succeeded) return;
    this.#mark = { revision: header.revision, atMs: nowMs };
    if (mark === undefined) return;
    try {
      await client.compact(mark.revision);
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      // A user who may not compact leaves it to etcd. After other errors the next step tries again.
      this.#isDenied = error.kind === 'denied';
    }
  }
}
