import { type Model, Text, Type, Whole } from '../schema.ts';

const Fraction = () => Type.Number({ default: 0 });

const DiskUsageSchema = Type.Object({
  Device: Text(),
  Mountpoint: Text(),
  /** Bytes. */
  Size: Whole(),
  Used: Whole(),
  /** Bytes available to users without privileges. */
  Available: Whole(),
  UsedPercent: Fraction(),
  InodesUsedPercent: Fraction(),
});

/** The recent use of a machine's resources. Source: docs/guides/logs-and-files.md#usage. */
export const NodeUsageSchema = Type.Object({
  /** Percent, for each core. */
  CPU: Type.Array(
    Type.Object({
      CPU: Text(),
      User: Fraction(),
      System: Fraction(),
      Idle: Fraction(),
      Total: Fraction(),
    }),
  ),
  /** MHz. */
  CPUTicksConsumed: Fraction(),
  /** Bytes. */
  Memory: Type.Object({ Total: Whole(), Available: Whole(), Used: Whole(), Free: Whole() }),
  /** The disk of the data directory. */
  AllocDirStats: DiskUsageSchema,
  DiskStats: Type.Array(DiskUsageSchema),
  DeviceStats: Type.Array(Type.Unknown()),
  /** Unix nanoseconds. */
  Timestamp: Whole(),
  /** Seconds since the machine booted. */
  Uptime: Whole(),
});

export interface NodeUsage extends Model<typeof NodeUsageSchema> {}
export type DiskUsage = Model<typeof DiskUsageSchema>;
