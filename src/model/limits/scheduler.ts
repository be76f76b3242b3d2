export const schedulerLimits = {
  /** The time after which scheduling lets requests go first. */
  sliceMs: 1,
  /** The same while writes that somebody waits for follow each other closely. */
  pacedSliceMs: 0.4,
  /** The same in steps, for the simulator, whose clock stands still during a step. */
  sliceSteps: 128,
  scoredNodesReported: 5,
  /** Shapes of groups for which the scores of nodes are kept between evaluations. */
  sheetsKept: 64,
  /** Newest decisions whose placements can be explained on the state that they saw. */
  decisionsKept: 64,
  /** Changed rows after which such a state is dropped: it keeps all of them in memory. */
  decisionRowsMax: 20_000,
  /** Explanations that wait for their turn. */
  explanationsMax: 64,
  plansQueuedMax: 1024,
  /**
   * Allocations that a transaction of a plan writes, unless the plan is all or nothing. More would hold the
   * thread for longer than a slice; fewer cost more of the log for each.
   */
  planRowsMax: 64,
} as const;
