import { placementRules } from '../constraint/constraint.ts';
import { limits } from '../limits.ts';
import { NetworkSchema } from '../network/network.ts';
import { About, Choice, List, type Model, Nullable, Text, Type, Whole } from '../schema.ts';

export const DeviceRequestSchema = Type.Object(
  {
    /** `type`, `vendor/type` or `vendor/type/name`. */
    Name: About('What is asked for: `type`, `vendor/type` or `vendor/type/name`.', Text(), {
      rules: 'required',
    }),
    Count: About('How many pieces.', Whole({ default: 1, minimum: 1 })),
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
    Cores: About('Whole cores for the task alone.', Whole({ minimum: 0 }), {
      rules: 'not together with `CPU`',
    }),
    MemoryMB: About(
      'Memory that is set aside, in MB.',
      Whole({ default: 300, minimum: limits.task.memoryMbMin }),
    ),
    /** 0 is none beyond `MemoryMB`, -1 is without limit. */
    MemoryMaxMB: About(
      'Memory that the task may take where there is some left; 0: `MemoryMB`, -1: no limit.',
      Whole(),
      { rules: '0, -1 or at least `MemoryMB`' },
    ),
    DiskMB: About("Not to be set: the group's `EphemeralDisk` is the disk of its tasks.", Whole(), {
      rules: '0',
    }),
    IOPS: About('Operations on disks.', Whole({ minimum: 0 })),
    SecretsMB: About(
      'Memory for the directory of secrets, in MB; set aside besides `MemoryMB`.',
      Whole({ minimum: 0 }),
      { rules: 'at most `MemoryMB`' },
    ),
    Devices: About('Devices such as graphics processors.', List(DeviceRequestSchema)),
    Networks: About('Deprecated: give them to the group.', List(NetworkSchema)),
    NUMA: About(
      'Whether cores, memory and devices shall be near one another.',
      Nullable(
        Type.Object(
          {
            Affinity: About(
              'Whether it is wished for or demanded.',
              Choice(['none', 'prefer', 'require'], 'none'),
            ),
            Devices: About('Names of devices that shall be near as well.', List(Type.String()), {
              rules: 'devices that are asked for',
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
