/** What a node offers to tasks. Absent values are detected, and nothing is reserved. */
export interface NodeCapacity {
  /** The IP address at which tasks are reached. */
  readonly address?: string;
  readonly cpuTotalMhz?: number;
  readonly memoryTotalMb?: number;
  readonly diskTotalMb?: number;
  readonly dynamicPortMin?: number;
  readonly dynamicPortMax?: number;
  /** The resources that no task gets. */
  readonly reserved?: {
    readonly cpuMhz?: number;
    readonly memoryMb?: number;
    readonly diskMb?: number;
    /** `22,80,8000-8010` */
    readonly hostPorts?: string;
  };
}
