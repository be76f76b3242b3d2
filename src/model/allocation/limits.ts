/** Changes of status that an allocation remembers. */
export const allocationLimits = {
  statesKept: 10,
  /** Allocations that a transaction marks when a whole job is marked. */
  markedPerTransactionMax: 64,
} as const;

/** Reads of the files of allocations. */
export const filesLimits = {
  pathLengthMax: 4096,
  /** Directories between an allocation's own and a file. */
  depthMax: 128,
  /** Links on the way to a file, as the kernel counts them. */
  linksMax: 40,
  /** Files in a page of a directory's list. */
  listedMax: 2000,
  /** Names that are read for a page; a larger directory cannot be listed. */
  namesMax: 1_000_000,
  followersPerAllocationMax: 32,
} as const;
