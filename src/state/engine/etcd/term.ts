import type { Ids } from '../../../base/ports.ts';
import type { Comparison, EtcdClient, Operation } from './client.ts';
import { encodeHead, firstHead, isHead, type LogHead } from './head.ts';
import type { Keys } from './keys.ts';

export interface BeginOptions {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly ids: Ids;
  /** Id of the process. */
  readonly server: string;
}

/** The part of the write that takes the leader key. */
export interface Taking {
  readonly compare: readonly Comparison[];
  readonly success: readonly Operation[];
}

const nothing: Taking = { compare: [], success: [] };

/**
 * Begins a term by a write of the head, on exactly the head that the process has applied. Resolves with the
 * head that it left; `undefined`: another process has written the head, or has taken the leader key.
 */
export async function beginTerm(
  { client, keys, ids, server }: BeginOptions,
  applied: LogHead | undefined,
  taking = nothing,
): Promise<LogHead | undefined> {
  const nonce = ids.uuid();
  const next =
    applied === undefined
      ? firstHead(ids.uuid(), server, nonce)
      : { ...applied, epoch: applied.epoch + 1, server, nonce };
  const { head: key } = keys;
  const isApplied: Comparison =
    applied === undefined ? { key, is: 'absent' } : isHead(key, applied);
  const { succeeded, ranges } = await client.transact({
    compare: [isApplied, ...taking.compare],
    success: [{ kind: 'put', key, value: encodeHead(next) }, ...taking.success],
    failure: [{ kind: 'range', range: { key } }],
  });
  const found = ranges[0]?.[0]?.value;
  // A request that is delivered twice finds its own head.
  const isOurs = succeeded || (found && Buffer.compare(found, encodeHead(next)) === 0);
  return isOurs ? next : undefined;
}
