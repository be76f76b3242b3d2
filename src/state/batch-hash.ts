import { createHash } from 'node:crypto';
import type { Batch } from './engine/engine.ts';

/** Of a log that holds no batch yet. */
export const noBatch = '';

const digits = 32;

/**
 * Tells a batch, and all before it, from every other log: two processes that show the same hash have
 * applied the same. `undefined` where a process alone holds the log, and no hashes are kept.
 */
export function batchHash({ previous, bytes }: Pick<Batch, 'previous' | 'bytes'>) {
  if (previous === undefined) return undefined;
  return createHash('sha256').update(previous).update(bytes).digest('hex').slice(0, digits);
}
