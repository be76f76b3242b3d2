import { minuteMs, secondMs } from '../../base/units.ts';

export const evaluationLimits = {
  /** Open evaluations; job registrations are refused from then on. */
  queueMax: 100_000,
  /** Blocked evaluations that are tried at the same time when there is room again. */
  releaseBatchMax: 32,
  /** Nodes that a job waits for one by one; more are waited for together. */
  nodesAwaitedMax: 256,
  /** Nodes with new room that are looked at together. */
  offersPerRoundMax: 32,
  deliveryMax: 3,
  nackFirstDelayMs: 1 * secondMs,
  nackDelayMs: 20 * secondMs,
  failedFollowUpDelayMs: 1 * minuteMs,
  failedFollowUpJitterMs: 5 * minuteMs,
  /** Deleted by one request that names them. */
  deletedMax: 7281,
  /** Rows that a request which deletes by a filter looks at before it lets others go first. */
  deletedPageRows: 1000,
  /** Shown with one that is read, of those that led to it or follow from it. */
  relatedMax: 256,
  /** How often an evaluation whose plans did not fit is tried again. */
  conflictRetryMs: 1 * minuteMs,
  planAttemptsServiceMax: 5,
  planAttemptsBatchMax: 2,
} as const;
