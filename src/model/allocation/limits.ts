/** Changes of status that are remembered of one. */
export const allocationLimits = {
  statesKept: 10,
  /** Marked in one transaction where a whole job is. */
  markedPerTransactionMax: 64,
} as const;

/** Reads of the files of allocations. */
export const filesLimits = {
  pathLengthMax: 4096,
  /** Directories between an allocation's own and a file. */
  depthMax: 128,
  /** Links on the way to a file, as the kernel counts them. */
  linksMax: 40,
  /** Files that one page of a list of a directory has. */
  listedMax: 2000,
  /** Names that are looked at for one page; a directory with more cannot be listed. */
  namesMax: 1_000_000,
  followersPerAllocationMax: 32,
} as const;
