/** Bounds of the caches of access control. Answers do not depend on them. */
export const limits = {
  /** Names looked up among globs, for each index. */
  globLookupsMax: 4096,
  /** Tokens found in the newest snapshot. */
  knownTokensMax: 16_384,
  /** Places for which a resource's rules are ordered. */
  viewsMax: 1024,
  /** Tokens with compiled rules. */
  compiledTokensMax: 16_384,
  /** Sets of policies with compiled rules. */
  compiledTablesMax: 1024,
} as const;
