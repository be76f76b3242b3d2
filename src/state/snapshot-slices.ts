import type { Clock, Timers } from '../base/ports.ts';
import { unhurriedRest } from '../base/slices.ts';
import type { StateClock } from './clock.ts';
import { type Bytes, encodeSnapshot } from './codec.ts';
import type { Engine } from './engine/engine.ts';
import { Form, type FormSource } from './form.ts';
import { type StateLimits, stateLimits } from './limits.ts';
import type { Snapshot } from './types.ts';
import type { View } from './view.ts';

export interface SnapshotsOptions {
  readonly engine: Engine;
  readonly timers: Timers;
  readonly limits: StateLimits;
  /** Tells the time of the state, where several processes hold the log. */
  readonly clock?: Pick<StateClock, 'batchMs'> | undefined;
  /** Measures slices. Absent where time stands still meanwhile. */
  readonly stopwatch?: Pick<Clock, 'monotonicMs'> | undefined;
  /** Where the state says in which form it is written. */
  readonly source?: FormSource | undefined;
  /** Takes the error of a failed snapshot. */
  readonly report: (error: unknown) => void;
}

/** Sizes of the snapshot and the log that were loaded. */
export interface StoredBytes {
  readonly snapshot: number;
  readonly log: number;
}

/** A durable state. */
export interface CopyableState {
  /** Whether writers should be left room: half of the time. */
  readonly isPaced?: () => boolean;
  readonly view: View;
  /** Hash of its last batch, if hashes are kept. */
  readonly hash: string | undefined;
}

/** The parts of a snapshot, in slices between other work. `each` is told of every slice, and may throw. */
export async function* slicesOf(
  { view, hash, isPaced }: CopyableState,
  { timers, limits, clock, source, stopwatch }: Omit<SnapshotsOptions, 'engine' | 'report'>,
  each: (part: Bytes | undefined) => void,
): AsyncGenerator<Bytes> {
  const head = { Hash: hash, Time: clock?.batchMs, form: Form.of(source, view) };
  const nowMs = () => stopwatch?.monotonicMs() ?? 0;
  let startMs = nowMs();
  for (const part of encodeSnapshot(view, limits.snapshotPartBytes, head)) {
    const restMs = isPaced?.() === true ? nowMs() - startMs : 0;
    each(part);
    if (part !== undefined) yield part;
    await unhurriedRest(timers, restMs);
    startMs = nowMs();
  }
}

/** The parts of a snapshot of a durable view, for readers of the same process. */
export const partsOf = (view: Snapshot, timers: Timers): AsyncGenerator<Bytes> =>
  slicesOf({ view: view as View, hash: undefined }, { timers, limits: stateLimits }, () => {});
