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
 * Etcd compacts without a comparison, so a former leader may still do it. Therefore the leader first writes a mark
 * under its epoch, and compacts up to the revision of the mark when the mark is old: no server needs an older
 * revision by then.
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
