import { createHash } from 'node:crypto';
import type { Batch } from './engine/engine.ts';

/** The hash of a log without batches. */
export const noBatch = '';

/** Of a hash of the log. */
export const hashDigits = 32;

/**
 * Identifies a batch and all batches before it: two processes with the same hash have applied the same
 * batches. `undefined` where a process alone holds the log, which keeps no hashes.
 */
export function batchHash({ previous, hash, bytes }: Pick<Batch, 'previous' | 'hash' | 'bytes'>) {
  if (hash !== undefined || previous === undefined) return hash;
  return createHash('sha256').update(previous).update(bytes).digest('hex').slice(0, hashDigits);
}
