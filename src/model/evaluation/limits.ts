import { minuteMs, secondMs } from '../../base/units.ts';

export const evaluationLimits = {
  /** Open evaluations; at this number, registrations of jobs are refused. */
  queueMax: 100_000,
  /** Blocked evaluations that run again at the same time when there is room again. */
  releaseBatchMax: 32,
  /** Nodes that a job waits for individually; it waits for more nodes as a whole. */
  nodesAwaitedMax: 256,
  /** Nodes with new room that are handled together. */
  offersPerRoundMax: 32,
  deliveryMax: 3,
  nackFirstDelayMs: 1 * secondMs,
  nackDelayMs: 20 * secondMs,
  failedFollowUpDelayMs: 1 * minuteMs,
  failedFollowUpJitterMs: 5 * minuteMs,
  /** Evaluations that a request can delete by id. */
  deletedMax: 7281,
  /** Rows that a deletion by filter reads before it lets other work go first. */
  deletedPageRows: 1000,
  /** Related evaluations that are shown with an evaluation. */
  relatedMax: 256,
  /** The time after which an evaluation whose plans did not fit runs again. */
  conflictRetryMs: 1 * minuteMs,
  planAttemptsServiceMax: 5,
  planAttemptsBatchMax: 2,
} as const;
