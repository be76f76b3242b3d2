import { placementRules, SpreadSchema } from '../constraint/constraint.ts';
import { limits } from '../limits.ts';
import {
  About,
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
  type WrittenInput,
} from '../schema.ts';
import {
  MigrateStrategySchema,
  ReschedulePolicySchema,
  UpdateStrategySchema,
} from '../task-group/policies.ts';
import { TaskGroupSchema } from '../task-group/task-group.ts';
import { metaRules } from './meta.ts';

/** The launches of a job by a schedule. `Spec` is another way to give a single entry of `Specs`. */
export const PeriodicSchema = Type.Object(
  {
    Enabled: About(
      'Whether the job is launched; while it is false, the other fields of the block are not checked.',
      Flag(true),
    ),
    Spec: About('A single cron expression, in place of `Specs`.', Text(), {
      rules: 'not together with `Specs`',
    }),
    Specs: About(
      'Cron expressions of five to seven fields, or words such as `@daily`; the job is launched at each of their times.',
      List(Type.String()),
      { rules: 'this or `Spec` is required' },
    ),
    SpecType: About('The form of `Specs`.', Choice(['cron'], 'cron')),
    ProhibitOverlap: About(
      'Whether a launch is skipped while an earlier launch still runs.',
      Flag(),
    ),
    TimeZone: About('The time zone of the expressions.', Text({ default: 'UTC' }), {
      rules: 'a name such as `Europe/Berlin`',
    }),
  },
  { title: 'Periodic' },
);
export type Periodic = Model<typeof PeriodicSchema>;

/** Source: docs/behaviour/job-specification.md#periodic-and-parameterized-jobs. */
export const ParameterizedSchema = Type.Object(
  {
    Payload: About(
      'Whether a dispatch has a payload.',
      Choice(['optional', 'required', 'forbidden'], 'optional'),
    ),
    MetaRequired: About('Names of meta that a dispatch must give.', List(Type.String())),
    MetaOptional: About('Names of meta that a dispatch may give.', List(Type.String()), {
      rules: 'none of `MetaRequired`',
    }),
  },
  { title: 'ParameterizedJob' },
);
export type Parameterized = Model<typeof ParameterizedSchema>;

/** Source: docs/behaviour/job-specification.md#the-job. */
export const MultiregionSchema = Type.Object(
  {
    Strategy: About(
      'The rollout of a new version from region to region.',
      Nullable(
        Type.Object(
          {
            MaxParallel: About('Number of regions at the same time.', Whole({ minimum: 0 })),
            OnFailure: About(
              'The regions that fail when a region fails.',
              Choice(['', 'fail_all', 'fail_local']),
            ),
          },
          { title: 'MultiregionStrategy' },
        ),
      ),
    ),
    Regions: About(
      'The regions, in their order.',
      List(
        Type.Object(
          {
            Name: About('Name of the region.', Text(), { rules: 'required; unique' }),
            Count: About('The count of groups without a count.', Whole({ default: 1, minimum: 0 })),
            Datacenters: About("Replaces the job's datacenters.", List(Type.String())),
            NodePool: About("Replaces the job's node pool.", Text()),
            Meta: About("Overrides the job's meta.", TextMap(), metaRules),
          },
          { title: 'Region' },
        ),
      ),
    ),
  },
  { title: 'Multiregion' },
);

export const jobTypes = ['service', 'batch', 'system', 'sysbatch'] as const;
export const jobStatuses = ['pending', 'running', 'dead'] as const;

const description = () => Text({ maxLength: limits.names.descriptionLengthMax });

const InterfaceSchema = Type.Object(
  {
    Description: About('A description of the job.', description()),
    Links: About(
      'Links to further pages.',
      List(
        Type.Object(
          {
            Label: About('The text of the link.', Text()),
            URL: About('The address of the link.', Text()),
          },
          { title: 'Link' },
        ),
      ),
    ),
  },
  { title: 'UI' },
);

const VersionTagSchema = Type.Object(
  {
    Name: About('Name of the tag.', Text(), { rules: 'required' }),
    Description: About('A description of the version.', description()),
    TaggedTime: About('The time when the version was tagged.', Instant()),
  },
  { title: 'VersionTag' },
);

/** Source: docs/contract/jobs.md#a-job, docs/behaviour/job-specification.md#the-job. */
export const JobSchema = Type.Object(
  {
    ID: About('The id of the job, unique in its namespace. It may have slashes.', Text(), {
      rules: `required; at most ${limits.names.lengthMax} characters, no space or NUL`,
    }),
    ParentID: About(
      'The id of the parent, for a launched or dispatched job; else empty.',
      ResponseOnly(Text()),
    ),
    Name: About('The name for people.', Text(), {
      absent: '`ID`',
      rules: `at most ${limits.names.lengthMax} characters, no NUL`,
    }),
    Region: About('The region of the job.', Text(), {
      absent: "the agent's",
      rules: 'the region of the cluster, or `global`, which means the same',
    }),
    Namespace: About(
      'The namespace of the job; the namespace of the request overrides it.',
      Text(),
      {
        absent: '`default`',
        rules: 'an existing namespace',
      },
    ),
    Type: About(
      'How the job is scheduled: kept running (`service`), run to its end (`batch`), or either on every ' +
        'node that fits (`system`, `sysbatch`).',
      Choice(jobTypes, 'service'),
      { absent: '`service`' },
    ),
    Priority: About(
      'Jobs with a higher priority are scheduled first.',
      Whole({
        minimum: limits.job.priorityMin,
        maximum: limits.job.priorityMax,
        default: limits.job.priorityDefault,
      }),
    ),
    AllAtOnce: About('Whether a plan places all its allocations or none.', Flag()),
    Datacenters: About(
      'The datacenters of the job, as names or as patterns with `*` and `?`.',
      FullList(Type.String()),
      {
        absent: '`["*"]`',
        rules: 'no empty names',
      },
    ),
    NodePool: About(
      'The pool of nodes of the job; `all`: every node.',
      Text({ default: 'default' }),
      {
        rules: 'an existing pool',
      },
    ),
    ...placementRules,
    Spreads: About('The attributes over which allocations are spread.', List(SpreadSchema), {
      rules: 'not in system jobs',
    }),
    TaskGroups: About('The groups of the job.', FullList(TaskGroupSchema), {
      rules:
        `at least one, at most ${limits.job.groupsMax}; their counts together at most ` +
        `${limits.job.countMax}`,
    }),
    Update: About(
      'Defaults for the `Update` of groups. Read back, it has only `Stagger` and `MaxParallel`.',
      UpdateStrategySchema,
      { rules: 'service and system jobs only' },
    ),
    Periodic: About('The schedule of a periodic job.', Nullable(PeriodicSchema), {
      rules: 'batch and sysbatch jobs only',
    }),
    ParameterizedJob: About(
      'The dispatches of a parameterized job.',
      Nullable(ParameterizedSchema),
      {
        rules: 'batch and sysbatch jobs only',
      },
    ),
    /** Base64. Only a dispatch sets it, never a caller. */
    Payload: About('The payload of the dispatch, in base64.', Nullable(Type.String()), {
      rules: 'must not be given',
    }),
    Meta: About('Names and values for its tasks, and for searches.', TextMap(), metaRules),
    /** Defaults for groups; null in a canonical job. */
    Migrate: About(
      'Defaults for the `Migrate` of groups. Read back, it is null.',
      Nullable(MigrateStrategySchema),
    ),
    Reschedule: About(
      'Defaults for the `Reschedule` of groups. Read back, it is null.',
      Nullable(ReschedulePolicySchema),
    ),
    Multiregion: About('The regions of the job.', Nullable(MultiregionSchema)),
    UI: About('Description and links for a web interface.', Nullable(InterfaceSchema)),
    VersionTag: About(
      'The tag of this version. A tagged version is kept.',
      Nullable(VersionTagSchema),
    ),
    Status: About('The status of the job.', ResponseOnly(Choice(jobStatuses, 'pending'))),
    StatusDescription: About('Why.', ResponseOnly(Text())),
    Stop: About('Whether the job is stopped.', Flag()),
    Stable: About('Whether the version is known to work.', ResponseOnly(Flag())),
    Dispatched: About('Whether a dispatch made the job.', ResponseOnly(Flag())),
    DispatchIdempotencyToken: About('The idempotency token of the dispatch.', ResponseOnly(Text())),
    Version: About(
      'The number of the version; each change of the specification raises it. A submission may raise it further.',
      Whole({ minimum: 0, maximum: limits.job.versionMax }),
    ),
    SubmitTime: About('The time of the submission.', ResponseOnly(Nullable(Instant()))),
    RegistryToken: About('A token of the service registry. Read back, it is empty.', Text()),
    SecretsToken: About('A token of the secrets engine. Read back, it is empty.', Text()),
    SchedulerTokenID: About('Accessor of the token that submitted it.', ResponseOnly(Text())),
    SecretsNamespace: About('The namespace of the secrets engine.', Text()),
    ...stamps,
    JobModifyIndex: About('Index of the last change of the specification.', ResponseOnly(Whole())),
  },
  { title: 'Job' },
);
export interface Job extends Model<typeof JobSchema> {}
export type JobType = Job['Type'];
export type JobStatus = Job['Status'];
/** A job as a caller gives it. */
export type JobInput = Input<Job>;
/** The same with durations as texts, such as `30s`, where the caller likes. */
export type WrittenJob = WrittenInput<Job>;
