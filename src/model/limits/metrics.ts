/** Bounds of metrics, so that a large cluster does not fill the memory of the program that collects them. */
export const metricsLimits = {
  /** Jobs with series of their own. With more jobs there are series for each namespace alone. */
  jobsMax: 1_000,
  /** Namespaces with series of their own. With more there are series for the whole cluster alone. */
  namespacesMax: 1_000,
  /** Nodes with series of their own. With more there are series for each node pool alone. */
  nodesMax: 1_000,
  /** Allocations of a node whose tasks have series of their own. With more there are sums by job and task. */
  allocationsPerNodeMax: 500,
  /** Slice of the writing of metrics, and of the count of all rows at the first request for them. */
  sliceMs: 5,
} as const;
