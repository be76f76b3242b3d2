/** Bounds of discovery chains. */
export const discoveryChainLimits = {
  /** Routes, splits, redirects and failover targets of a chain. */
  partsMax: 10_000,
  /** Nested splitters, and redirects in a row. */
  depthMax: 64,
  /** Chains that are compiled again to see whether a change of entries breaks one of them. */
  checkedMax: 10_000,
} as const;
