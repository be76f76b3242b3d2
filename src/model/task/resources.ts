import { placementRules } from '../constraint/constraint.ts';
import { NetworkSchema } from '../network/network.ts';
import { Choice, List, type Model, Nullable, Text, Type, Whole } from '../schema.ts';

export const DeviceRequestSchema = Type.Object({
  /** `type`, `vendor/type` or `vendor/type/name`. */
  Name: Text(),
  Count: Whole({ default: 1 }),
  ...placementRules,
});
export type DeviceRequest = Model<typeof DeviceRequestSchema>;

/** Source: facts/scheduler.md §2.6 "Resources". The default of `CPU` depends on `Cores`. */
export const ResourcesSchema = Type.Object({
  CPU: Whole(),
  Cores: Whole({ minimum: 0 }),
  MemoryMB: Whole({ default: 300 }),
  /** 0 is none beyond `MemoryMB`, -1 is without limit. */
  MemoryMaxMB: Whole(),
  DiskMB: Whole(),
  IOPS: Whole(),
  SecretsMB: Whole({ minimum: 0 }),
  Devices: List(DeviceRequestSchema),
  Networks: List(NetworkSchema),
  NUMA: Nullable(
    Type.Object({
      Affinity: Choice(['none', 'prefer', 'require'], 'none'),
      Devices: List(Type.String()),
    }),
  ),
});
export type Resources = Model<typeof ResourcesSchema>;
