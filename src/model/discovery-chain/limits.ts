/** What the routing entries of a service come to. */
export const discoveryChainLimits = {
  /** Routes, splits, redirects and failover targets of one chain. */
  partsMax: 10_000,
  /** Splitters one within the other; redirects one after the other. */
  depthMax: 64,
  /** Chains that are made anew to see whether a change of entries breaks one. */
  checkedMax: 10_000,
} as const;
