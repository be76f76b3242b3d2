import { assert } from '../base/assert.ts';
import type { Clock } from '../base/ports.ts';
import { batchHash } from './batch-hash.ts';
import type { Draft } from './draft.ts';
import type { Batch } from './engine/engine.ts';
import { Form, type FormSource } from './form.ts';
import { Head } from './head.ts';
import type { StateLimits } from './limits.ts';
import { encodeRestore } from './restore-entry.ts';
import type { Restoring } from './types.ts';
import type { View } from './view.ts';

/** The entry of a restore, and what is there once it is durable. */
export interface RestoreMade<T> {
  readonly value: T;
  readonly view: View;
  readonly batch: Batch;
  /** Of the batch, where hashes are kept. */
  readonly hash: string | undefined;
}

export interface RestoreSetting {
  /** The state that is replaced. */
  readonly before: View;
  /** Hash of the last batch, where hashes are kept. */
  readonly previous: string | undefined;
  readonly clock?: Pick<Clock, 'nowMs'> | undefined;
  readonly limits: StateLimits;
  readonly freeze: boolean;
  readonly source?: FormSource | undefined;
}

/** Runs the transaction of a restore on the rows of its draft. Throws what that throws. */
export function makeRestore<T>(
  { draft, file, above, run }: Restoring<T>,
  { before, previous, clock, ...setting }: RestoreSetting,
): RestoreMade<T> {
  const index = Math.max(before.index, above) + 1;
  const rows = draft as Draft;
  const form = Form.of(setting.source, before);
  form?.requireWritten(rows.versions);
  const head = new Head(rows.viewBefore(index), { ...setting, form });
  const { value, ran } = head.run((transaction) => run(transaction, before));
  assert(ran !== undefined, 'a restore leaves a trace of itself');
  const bytes = encodeRestore(ran.text, file);
  const timeMs = clock?.nowMs();
  const batch = { firstIndex: before.index + 1, lastIndex: index, bytes, previous, timeMs };
  return { value, view: head.view(), batch, hash: batchHash(batch) };
}
