import type { Histogram } from '../base/histogram.ts';
import type { Timing } from '../base/timing.ts';

/** Sizes and times of the state in this process. */
export interface StateFigures {
  /** Of the last snapshot in the log. */
  readonly snapshotBytes: number;
  /** Of the batches after it. Only the process that leads takes snapshots, so others count on. */
  readonly logBytes: number;
  /** Transactions that wait to become durable. */
  readonly waitingWrites: number;
  /** Age of the oldest of them; `undefined`: none is being appended, or nothing is measured. */
  readonly oldestWriteMs: number | undefined;
  /** Whether writes that somebody waits for follow each other closely, so that long work leaves them room. */
  readonly isPaced: boolean;
  /** From the first transaction of a batch until the batch is durable. */
  readonly commitSeconds: Histogram;
}

/** Not in limits: the upper bounds of the buckets, in seconds. Dashboards know them. */
export const commitBounds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];

interface QueueFigures {
  readonly waiting: number;
  readonly isPaced: boolean;
  /** When the oldest transaction that is being appended came, on the monotonic clock. */
  readonly oldestMs: number | undefined;
}

export const stateFigures = (
  { sizes }: { readonly sizes: Pick<StateFigures, 'snapshotBytes' | 'logBytes'> },
  times: Timing,
  queue: QueueFigures | undefined,
): StateFigures => ({
  ...sizes,
  waitingWrites: queue?.waiting ?? 0,
  oldestWriteMs: times.sinceMs(queue?.oldestMs),
  isPaced: queue?.isPaced ?? false,
  commitSeconds: times.seconds,
});
