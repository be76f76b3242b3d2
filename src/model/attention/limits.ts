import { hourMs, minuteMs, secondMs } from '../../base/units.ts';

/** Bounds of the list of what needs attention. */
export const attentionLimits = {
  itemsDefault: 100,
  itemsMax: 500,
  /** Characters of a reason. */
  reasonLengthMax: 500,
  /** Restarts of a task, or placements anew of an allocation, from which it counts as failing again and again. */
  restartsMin: 3,
  /** How long a restart counts. */
  restartAgeMs: 1 * hourMs,
  /** Share of the processor time or memory of a node that counts as near full. */
  fullShare: 0.9,
  /** Share of a limit of the cluster that counts as near. */
  limitShare: 0.9,
  /** A token is near its end in the last part of its life, and in the last hour at most. */
  tokenEndShare: 0.25,
  tokenEndMs: 1 * hourMs,
  /** A certificate is near its end in the last part of its life, and in the last two weeks at most. */
  certificateEndShare: 0.25,
  certificateEndMs: 14 * 24 * hourMs,
  /** Age of the oldest change of exported services that a peer has not applied, from which it counts as behind. */
  peeringLagMs: 30 * secondMs,
  /** Tokens that are looked at. */
  tokensMax: 1000,
  /** Contact with the leader that counts as lost. */
  contactAgeMs: 10 * secondMs,
  /** Delay of a snapshot on a schedule that counts as late. */
  snapshotDelayMs: 15 * minuteMs,
} as const;
