import { placementRules } from '../constraint/constraint.ts';
import { limits } from '../limits.ts';
import { NetworkSchema } from '../network/network.ts';
import { About, Choice, List, type Model, Nullable, Text, Type, Whole } from '../schema.ts';

export const DeviceRequestSchema = Type.Object(
  {
    /** `type`, `vendor/type` or `vendor/type/name`. */
    Name: About('The wanted device: `type`, `vendor/type` or `vendor/type/name`.', Text(), {
      rules: 'required',
    }),
    Count: About('Number of instances.', Whole({ default: 1, minimum: 1 })),
    ...placementRules,
  },
  { title: 'Device' },
);
export type DeviceRequest = Model<typeof DeviceRequestSchema>;

/**
 * Source: docs/behaviour/job-specification.md#resources. The default of `CPU` depends on `Cores`.
 */
export const ResourcesSchema = Type.Object(
  {
    CPU: About('Share of the processor, in MHz.', Whole(), {
      absent: '`100`; `0` with `Cores`',
      rules: 'at least 1, unless `Cores` is given',
    }),
    Cores: About('Number of whole cores that only the task uses.', Whole({ minimum: 0 }), {
      rules: 'not together with `CPU`',
    }),
    MemoryMB: About(
      'Reserved memory, in MB.',
      Whole({ default: 300, minimum: limits.task.memoryMbMin }),
    ),
    /** 0: no memory beyond `MemoryMB`; -1: no limit. */
    MemoryMaxMB: About(
      'Maximum memory, in MB, if the node has memory left; 0: `MemoryMB`, -1: no limit.',
      Whole(),
      { rules: '0, -1 or at least `MemoryMB`' },
    ),
    DiskMB: About("Must not be set: tasks use the group's `EphemeralDisk`.", Whole(), {
      rules: '0',
    }),
    IOPS: About('Operations on disks.', Whole({ minimum: 0 })),
    SecretsMB: About(
      'Memory for the directory of secrets, in MB; reserved in addition to `MemoryMB`.',
      Whole({ minimum: 0 }),
      { rules: 'at most `MemoryMB`' },
    ),
    Devices: About('Devices such as graphics processors.', List(DeviceRequestSchema)),
    Networks: About('Deprecated: give them to the group.', List(NetworkSchema)),
    NUMA: About(
      'Whether cores, memory and devices are placed near one another.',
      Nullable(
        Type.Object(
          {
            Affinity: About(
              'Whether this is preferred or required.',
              Choice(['none', 'prefer', 'require'], 'none'),
            ),
            Devices: About('Names of devices that are included.', List(Type.String()), {
              rules: 'names in `Devices` of the task',
            }),
          },
          { title: 'NUMA' },
        ),
      ),
    ),
  },
  { title: 'Resources' },
);
export type Resources = Model<typeof ResourcesSchema>;
