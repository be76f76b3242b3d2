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

const deprecated = 'Deprecated: the former rules for a disconnected node.';

/** Source: docs/contract/jobs.md#a-task-group, docs/behaviour/job-specification.md#task-groups. */
export const TaskGroupSchema = Type.Object(
  {
    Name: About('The name of the group.', Text(), { rules: 'required; unique in the job' }),
    Count: About('The wanted number of allocations.', Whole({ default: 1, minimum: 0 }), {
      absent: '`Scaling.Min`, else `1`',
      rules: 'at most 1 in a system job; within the range of `Scaling`',
    }),
    ...placementRules,
    Spreads: About('The attributes over which allocations are spread.', List(SpreadSchema), {
      rules: 'not in system jobs',
    }),
    Update: About('The rollout of a new version.', Nullable(UpdateStrategySchema), {
      absent: "the job's, field by field; null in batch and sysbatch jobs",
      rules: 'service and system jobs only',
    }),
    Migrate: About('The moves of allocations by a drain.', Nullable(MigrateStrategySchema), {
      absent: "the job's, field by field; null in jobs of other types",
      rules: 'service jobs only',
    }),
    RestartPolicy: About('The restarts of a failed task.', RestartPolicySchema),
    ReschedulePolicy: About(
      'The replacement of a failed allocation.',
      Nullable(ReschedulePolicySchema),
      {
        absent: "the job's `Reschedule`, field by field; null in system and sysbatch jobs",
        rules: 'service and batch jobs only',
      },
    ),
    Disconnect: About('Rules for allocations of a disconnected node.', Nullable(DisconnectSchema)),
    EphemeralDisk: About('Disk for the lifetime of an allocation.', EphemeralDiskSchema),
    Networks: About(
      'The network and ports of an allocation. Only the first network is used.',
      List(NetworkSchema),
    ),
    Services: About('The services of the group.', List(ServiceSchema)),
    Tasks: About('The tasks, which run together in an allocation.', FullList(TaskSchema), {
      rules: 'at least one, at least one of them without a `Lifecycle`',
    }),
    Scaling: About('The scaling policy for `Count`.', Nullable(ScalingPolicySchema), {
      rules: 'not in system jobs',
    }),
    Volumes: About(
      'Volumes, by the names under which tasks mount them.',
      MapOf(VolumeRequestSchema),
    ),
    Registry: About('The registry of its services.', Nullable(RegistryBlockSchema)),
    ShutdownDelay: About(
      'The wait between the deregistration of its services and the signal that ends its tasks.',
      Nullable(Nanoseconds({ minimum: 0 })),
    ),
    MaxRunDuration: About(
      'The time after which an allocation is stopped.',
      Nullable(Nanoseconds({ minimum: 1 })),
      { rules: 'batch and sysbatch jobs only' },
    ),
    /** Deprecated and without effect; `Disconnect` replaced the three. */
    StopAfterClientDisconnect: About(deprecated, Nullable(Nanoseconds())),
    MaxClientDisconnect: About(deprecated, Nullable(Nanoseconds())),
    PreventRescheduleOnLost: About(deprecated, Nullable(Type.Boolean())),
    Meta: About('Names and values, which override the job’s.', TextMap(), metaRules),
  },
  { title: 'TaskGroup' },
);
export interface TaskGroup extends Model<typeof TaskGroupSchema> {}
