import type { Ids } from '../../../base/ports.ts';
import type { EtcdClient } from './client.ts';
import { encodeHead, firstHead, isHead, type LogHead } from './head.ts';
import type { Keys } from './keys.ts';

export interface BeginOptions {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly ids: Ids;
  /** Id of the process. */
  readonly server: string;
}

/**
 * Begins a term by a write of the head, on exactly the head that the process has applied. Resolves with the
 * head that it left; `undefined`: another process has written the head.
 */
export async function beginTerm(
  { client, keys, ids, server }: BeginOptions,
  applied: LogHead | undefined,
): Promise<LogHead | undefined> {
  const nonce = ids.uuid();
  const next =
    applied === undefined
      ? firstHead(ids.uuid(), server, nonce)
      : { ...applied, epoch: applied.epoch + 1, server, nonce };
  const { head: key } = keys;
  const { succeeded, ranges } = await client.transact({
    compare: [applied === undefined ? { key, is: 'absent' } : isHead(key, applied)],
    success: [{ kind: 'put', key, value: encodeHead(next) }],
    failure: [{ kind: 'range', range: { key } }],
  });
  const found = ranges[0]?.[0]?.value;
  // A request that is delivered twice finds its own head.
  const isOurs = succeeded || (found && Buffer.compare(found, encodeHead(next)) === 0);
  return isOurs ? next : undefined;
}
