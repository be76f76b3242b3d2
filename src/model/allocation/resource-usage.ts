import { type Immutable, type Model, Type, Whole } from '../schema.ts';

const Fraction = () => Type.Number({ default: 0 });

/** The recent use of resources by a task or an allocation. Source: docs/guides/logs-and-files.md#usage. */
const ResourceUsageSchema = Type.Object({
  CpuStats: Type.Object({
    /** Percent of one core: 250 is two cores and a half. */
    Percent: Fraction(),
    UserMode: Fraction(),
    SystemMode: Fraction(),
    /** MHz. */
    TotalTicks: Fraction(),
    ThrottledPeriods: Whole(),
    /** Nanoseconds. */
    ThrottledTime: Whole(),
    /** The fields that the driver measures. */
    Measured: Type.Array(Type.String()),
  }),
  /** Bytes. */
  MemoryStats: Type.Object({
    RSS: Whole(),
    Cache: Whole(),
    Swap: Whole(),
    Usage: Whole(),
    MaxUsage: Whole(),
    KernelUsage: Whole(),
    KernelMaxUsage: Whole(),
    Measured: Type.Array(Type.String()),
  }),
  DeviceStats: Type.Array(Type.Unknown()),
});

const TaskUsageSchema = Type.Object({
  ResourceUsage: ResourceUsageSchema,
  /** Unix nanoseconds. */
  Timestamp: Whole(),
  /** By process id; at most `limits.statistics.processesShownMax`. */
  Pids: Type.Record(Type.String(), ResourceUsageSchema),
});

/** Tasks that do not run, or whose drivers measure nothing, are left out. */
export const AllocationUsageSchema = Type.Object({
  ResourceUsage: ResourceUsageSchema,
  Tasks: Type.Record(Type.String(), TaskUsageSchema),
  Timestamp: Whole(),
});

export type ResourceUsage = Model<typeof ResourceUsageSchema>;
export type TaskUsage = Model<typeof TaskUsageSchema>;
export type AllocationUsage = Immutable<Model<typeof AllocationUsageSchema>>;
