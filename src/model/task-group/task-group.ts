import { placementRules, SpreadSchema } from '../constraint/constraint.ts';
import { metaRules } from '../job/meta.ts';
import { NetworkSchema } from '../network/network.ts';
import { ScalingPolicySchema } from '../scaling-policy/scaling-policy.ts';
import {
  About,
  FullList,
  List,
  MapOf,
  type Model,
  Nanoseconds,
  Nullable,
  Text,
  TextMap,
  Type,
  Whole,
} from '../schema.ts';
import { ServiceSchema } from '../service/service.ts';
import { RegistryBlockSchema } from '../task/secrets.ts';
import { TaskSchema } from '../task/task.ts';
import { VolumeRequestSchema } from '../volume/volume.ts';
import {
  DisconnectSchema,
  EphemeralDiskSchema,
  MigrateStrategySchema,
  ReschedulePolicySchema,
  RestartPolicySchema,
  UpdateStrategySchema,
} from './policies.ts';

const deprecated = 'What happened while a node was away.';

/** Source: docs/contract/jobs.md#a-task-group, docs/behaviour/job-specification.md#task-groups. */
export const TaskGroupSchema = Type.Object(
  {
    Name: About('Names the group.', Text(), { rules: 'required; unique in the job' }),
    Count: About(
      'How many allocations of the group there shall be.',
      Whole({ default: 1, minimum: 0 }),
      {
        absent: '`Scaling.Min`, else `1`',
        rules: 'at most 1 in a system job; within the range of `Scaling`',
      },
    ),
    ...placementRules,
    Spreads: About('What its allocations are spread over.', List(SpreadSchema), {
      rules: 'not in system jobs',
    }),
    Update: About('How a new version is rolled out.', Nullable(UpdateStrategySchema), {
      absent: "the job's, field by field; null in batch and sysbatch jobs",
      rules: 'service and system jobs only',
    }),
    Migrate: About('How a drain moves its allocations.', Nullable(MigrateStrategySchema), {
      absent: "the job's, field by field; null in jobs of other types",
      rules: 'service jobs only',
    }),
    RestartPolicy: About('What happens when a task fails.', RestartPolicySchema),
    ReschedulePolicy: About(
      'When an allocation that failed is replaced.',
      Nullable(ReschedulePolicySchema),
      {
        absent: "the job's `Reschedule`, field by field; null in system and sysbatch jobs",
        rules: 'service and batch jobs only',
      },
    ),
    Disconnect: About('What happens while a node is away.', Nullable(DisconnectSchema)),
    EphemeralDisk: About('Disk for the time that an allocation lasts.', EphemeralDiskSchema),
    Networks: About(
      'The network and ports of an allocation. The first one counts.',
      List(NetworkSchema),
    ),
    Services: About('What it offers.', List(ServiceSchema)),
    Tasks: About('What runs together in an allocation.', FullList(TaskSchema), {
      rules: 'at least one, at least one of them without a `Lifecycle`',
    }),
    Scaling: About('For an autoscaler of `Count`.', Nullable(ScalingPolicySchema), {
      rules: 'not in system jobs',
    }),
    Volumes: About(
      'Volumes by the names that its tasks mount them by.',
      MapOf(VolumeRequestSchema),
    ),
    Registry: About('Where its services are registered.', Nullable(RegistryBlockSchema)),
    ShutdownDelay: About(
      'How long to wait between taking its services out and asking its tasks to end.',
      Nullable(Nanoseconds({ minimum: 0 })),
    ),
    MaxRunDuration: About(
      'After what time an allocation is ended.',
      Nullable(Nanoseconds({ minimum: 1 })),
      { rules: 'batch and sysbatch jobs only' },
    ),
    /** Deprecated and without effect; `Disconnect` replaced the three. */
    StopAfterClientDisconnect: About(deprecated, Nullable(Nanoseconds())),
    MaxClientDisconnect: About(deprecated, Nullable(Nanoseconds())),
    PreventRescheduleOnLost: About(deprecated, Nullable(Type.Boolean())),
    Meta: About('Names and values, over those of the job.', TextMap(), metaRules),
  },
  { title: 'TaskGroup' },
);
export interface TaskGroup extends Model<typeof TaskGroupSchema> {}
