export const schedulerLimits = {
  /** After how long scheduling lets requests go first. */
  sliceMs: 1,
  /** The same in steps, for the simulator, whose clock stands still meanwhile. */
  sliceSteps: 128,
  scoredNodesReported: 5,
  /** Shapes of groups for which the nodes' scores are kept from one evaluation to the next. */
  sheetsKept: 64,
  /** Newest decisions whose placements can be explained on the very state they were made on. */
  decisionsKept: 64,
  /** Rows that may change before such a state is let go: it holds on to all of them. */
  decisionRowsMax: 20_000,
  /** Explanations that wait for their turn. */
  explanationsMax: 64,
  plansQueuedMax: 1024,
  /**
   * Allocations that one transaction of a plan writes, unless the plan is all or nothing. Each makes
   * some 15 KB of objects, and as soon as the collector marks that is up to 5 ms every 64 KB.
   */
  planRowsMax: 4,
} as const;
