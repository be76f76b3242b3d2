import type { snapshotEndpoints } from '../contract/snapshot.ts';
import type { Restored } from '../model/snapshot/restore-record.ts';
import { callsOf } from './calls.ts';
import { limits } from './limits.ts';
import type { CallOptions, Requester, Written } from './requester.ts';

export interface RestoreOptions extends CallOptions {
  /** Id of the cluster, if its state is not empty and may be replaced. */
  readonly force?: string | undefined;
  /** Take the id of the cluster that the snapshot was saved from. */
  readonly isSameCluster?: boolean | undefined;
}

/** Snapshots of the whole state. Need a management token. */
export type Snapshots = ReturnType<typeof snapshotsOf>;

export function snapshotsOf(requester: Requester) {
  const { read, stream } = callsOf<typeof snapshotEndpoints>(requester);
  return {
    /** The file of a new snapshot, in pieces. It is whole only if its checksum is right. */
    save: (options?: CallOptions): AsyncIterable<Uint8Array> =>
      stream('GET /v1/operator/snapshot', {}, options),
    /** Replaces the whole state. `file`: that of a snapshot, in pieces. */
    restore: (
      file: AsyncIterable<Uint8Array>,
      { force, isSameCluster, ...options }: RestoreOptions = {},
    ): Promise<Written<Restored>> =>
      requester.upload(
        { method: 'PUT', path: '/v1/operator/snapshot' },
        file,
        { timeoutMs: limits.longWorkTimeoutMs, ...options },
        { force, same_cluster: isSameCluster || undefined },
      ),
    /** The last restore, and the allocations that nodes keep although it does not know them. */
    lastRestore: (options?: CallOptions) => read('GET /v1/operator/snapshot/restored', {}, options),
  };
}
