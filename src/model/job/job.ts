import { placementRules, SpreadSchema } from '../constraint/constraint.ts';
import { limits } from '../limits.ts';
import {
  Choice,
  Flag,
  FullList,
  type Input,
  Instant,
  List,
  type Model,
  Nullable,
  ResponseOnly,
  stamps,
  Text,
  TextMap,
  Type,
  Whole,
} from '../schema.ts';
import {
  MigrateStrategySchema,
  ReschedulePolicySchema,
  UpdateStrategySchema,
} from '../task-group/policies.ts';
import { TaskGroupSchema } from '../task-group/task-group.ts';

/** Source: facts/scheduler.md §2.3. `Spec` is the older way to give one of `Specs`. */
export const PeriodicSchema = Type.Object({
  Enabled: Flag(true),
  Spec: Text(),
  Specs: List(Type.String()),
  SpecType: Choice(['cron'], 'cron'),
  ProhibitOverlap: Flag(),
  TimeZone: Text({ default: 'UTC' }),
});
export type Periodic = Model<typeof PeriodicSchema>;

/** Source: facts/scheduler.md §2.3. */
export const ParameterizedSchema = Type.Object({
  Payload: Choice(['optional', 'required', 'forbidden'], 'optional'),
  MetaRequired: List(Type.String()),
  MetaOptional: List(Type.String()),
});
export type Parameterized = Model<typeof ParameterizedSchema>;

/** Source: facts/scheduler.md §2.1 "Multiregion". */
export const MultiregionSchema = Type.Object({
  Strategy: Nullable(Type.Object({ MaxParallel: Whole({ minimum: 0 }), OnFailure: Text() })),
  Regions: List(
    Type.Object({
      Name: Text(),
      Count: Whole({ default: 1, minimum: 0 }),
      Datacenters: List(Type.String()),
      NodePool: Text(),
      Meta: TextMap(),
    }),
  ),
});

export const jobTypes = ['service', 'batch', 'system', 'sysbatch'] as const;
export const jobStatuses = ['pending', 'running', 'dead'] as const;

/** Source: spec/3-jobs.md §2.1, facts/scheduler.md §2.1. */
export const JobSchema = Type.Object({
  ID: Text(),
  ParentID: ResponseOnly(Text()),
  Name: Text(),
  Region: Text(),
  Namespace: Text(),
  Type: Choice(jobTypes, 'service'),
  Priority: Whole({
    minimum: limits.job.priorityMin,
    maximum: limits.job.priorityMax,
    default: limits.job.priorityDefault,
  }),
  AllAtOnce: Flag(),
  Datacenters: FullList(Type.String()),
  NodePool: Text({ default: 'default' }),
  ...placementRules,
  Spreads: List(SpreadSchema),
  TaskGroups: FullList(TaskGroupSchema),
  Update: UpdateStrategySchema,
  Periodic: Nullable(PeriodicSchema),
  ParameterizedJob: Nullable(ParameterizedSchema),
  /** Base64. A caller never gives one: dispatch does. */
  Payload: Nullable(Type.String()),
  Meta: TextMap(),
  /** Templates for the groups' own; null once canonical. */
  Migrate: Nullable(MigrateStrategySchema),
  Reschedule: Nullable(ReschedulePolicySchema),
  Multiregion: Nullable(MultiregionSchema),
  UI: Nullable(
    Type.Object({
      Description: Text({ maxLength: limits.names.descriptionLengthMax }),
      Links: List(Type.Object({ Label: Text(), URL: Text() })),
    }),
  ),
  VersionTag: Nullable(
    Type.Object({
      Name: Text(),
      Description: Text({ maxLength: limits.names.descriptionLengthMax }),
      TaggedTime: Instant(),
    }),
  ),
  Status: ResponseOnly(Choice(jobStatuses, 'pending')),
  StatusDescription: ResponseOnly(Text()),
  Stop: Flag(),
  Stable: ResponseOnly(Flag()),
  Dispatched: ResponseOnly(Flag()),
  DispatchIdempotencyToken: ResponseOnly(Text()),
  Version: Whole({ minimum: 0, maximum: limits.job.versionMax }),
  SubmitTime: ResponseOnly(Nullable(Instant())),
  /** Checked at submission, never kept. */
  RegistryToken: Text(),
  SecretsToken: Text(),
  /** The accessor of the token that submitted the job. */
  SchedulerTokenID: ResponseOnly(Text()),
  SecretsNamespace: Text(),
  ...stamps,
  /** Index of the last change of the specification. */
  JobModifyIndex: ResponseOnly(Whole()),
});
export type Job = Model<typeof JobSchema>;
export type JobType = Job['Type'];
export type JobStatus = Job['Status'];
/** A job as a caller gives it. */
export type JobInput = Input<Job>;
