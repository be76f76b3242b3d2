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
} from '../schema.ts';
import {
  MigrateStrategySchema,
  ReschedulePolicySchema,
  UpdateStrategySchema,
} from '../task-group/policies.ts';
import { TaskGroupSchema } from '../task-group/task-group.ts';
import { metaRules } from './meta.ts';

/** When a job launches by itself. `Spec` is another way to give a single entry of `Specs`. */
export const PeriodicSchema = Type.Object(
  {
    Enabled: About(
      'Whether it is launched; while it is false nothing else here is judged.',
      Flag(true),
    ),
    Spec: About('One of `Specs`.', Text(), { rules: 'not together with `Specs`' }),
    Specs: About(
      'Cron expressions of five to seven fields, or words such as `@daily`; it is launched at each.',
      List(Type.String()),
      { rules: 'this or `Spec` is required' },
    ),
    SpecType: About('What `Specs` are written in.', Choice(['cron'], 'cron')),
    ProhibitOverlap: About('Do not launch it while an earlier launch still runs.', Flag()),
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
      'Whether a dispatch brings data.',
      Choice(['optional', 'required', 'forbidden'], 'optional'),
    ),
    MetaRequired: About('Names that a dispatch has to give.', List(Type.String())),
    MetaOptional: About('Names that a dispatch may give.', List(Type.String()), {
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
      'How a new version goes from region to region.',
      Nullable(
        Type.Object(
          {
            MaxParallel: About('How many regions at the same time.', Whole({ minimum: 0 })),
            OnFailure: About(
              'Which regions fail when one does.',
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
            Name: About('Names the region.', Text(), { rules: 'required; unique' }),
            Count: About('The count of groups with none.', Whole({ default: 1, minimum: 0 })),
            Datacenters: About("Instead of the job's.", List(Type.String())),
            NodePool: About("Instead of the job's.", Text()),
            Meta: About("Over the job's.", TextMap(), metaRules),
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
    Description: About('What the job is.', description()),
    Links: About(
      'Where to find more.',
      List(
        Type.Object(
          { Label: About('What it is called.', Text()), URL: About('Where it leads.', Text()) },
          { title: 'Link' },
        ),
      ),
    ),
  },
  { title: 'UI' },
);

const VersionTagSchema = Type.Object(
  {
    Name: About('Names the version.', Text(), { rules: 'required' }),
    Description: About('What the version is.', description()),
    TaggedTime: About('When it was named.', Instant()),
  },
  { title: 'VersionTag' },
);

/** Source: docs/contract/jobs.md#a-job, docs/behaviour/job-specification.md#the-job. */
export const JobSchema = Type.Object(
  {
    ID: About('Names the job in its namespace. It may hold slashes.', Text(), {
      rules: `required; at most ${limits.names.lengthMax} characters, no space or NUL`,
    }),
    ParentID: About(
      'The job that launched or dispatched it; empty for others.',
      ResponseOnly(Text()),
    ),
    Name: About('What people call it.', Text(), {
      absent: '`ID`',
      rules: `at most ${limits.names.lengthMax} characters, no NUL`,
    }),
    Region: About('The region that it belongs to.', Text(), {
      absent: "the agent's",
      rules: 'the region of the cluster, or `global`, which means the same',
    }),
    Namespace: About('The namespace that it belongs to; that of the request goes first.', Text(), {
      absent: '`default`',
      rules: 'one that exists',
    }),
    Type: About(
      'How it is scheduled: kept running (`service`), run to its end (`batch`), or either on every ' +
        'node that fits (`system`, `sysbatch`).',
      Choice(jobTypes, 'service'),
      { absent: '`service`' },
    ),
    Priority: About(
      'Higher goes first.',
      Whole({
        minimum: limits.job.priorityMin,
        maximum: limits.job.priorityMax,
        default: limits.job.priorityDefault,
      }),
    ),
    AllAtOnce: About('Place everything that a plan places, or nothing of it.', Flag()),
    Datacenters: About(
      'Datacenters that it may run in; `*` and `?` stand for others.',
      FullList(Type.String()),
      {
        absent: '`["*"]`',
        rules: 'no empty names',
      },
    ),
    NodePool: About(
      'The pool of nodes it runs on; `all`: every node.',
      Text({ default: 'default' }),
      {
        rules: 'one that exists',
      },
    ),
    ...placementRules,
    Spreads: About('What its allocations are spread over.', List(SpreadSchema), {
      rules: 'not in system jobs',
    }),
    TaskGroups: About('What it consists of.', FullList(TaskGroupSchema), {
      rules:
        `at least one, at most ${limits.job.groupsMax}; their counts together at most ` +
        `${limits.job.countMax}`,
    }),
    Update: About(
      'What groups take where their own says nothing. Read back, it has `Stagger` and `MaxParallel` only.',
      UpdateStrategySchema,
      { rules: 'service and system jobs only' },
    ),
    Periodic: About('Launch it at given times.', Nullable(PeriodicSchema), {
      rules: 'batch and sysbatch jobs only',
    }),
    ParameterizedJob: About('Launch it by a dispatch.', Nullable(ParameterizedSchema), {
      rules: 'batch and sysbatch jobs only',
    }),
    /** Base64. A caller never gives one: dispatch does. */
    Payload: About('What a dispatch brought, in base64.', Nullable(Type.String()), {
      rules: 'not to be given',
    }),
    Meta: About(
      'Names and values for its tasks, and for whoever looks for it.',
      TextMap(),
      metaRules,
    ),
    /** Templates for the groups' own; null once canonical. */
    Migrate: About(
      'What groups take where their own says nothing. Read back, it is null.',
      Nullable(MigrateStrategySchema),
    ),
    Reschedule: About(
      'What groups take where their own says nothing. Read back, it is null.',
      Nullable(ReschedulePolicySchema),
    ),
    Multiregion: About('The regions that it would run in.', Nullable(MultiregionSchema)),
    UI: About('What a web interface shows of it.', Nullable(InterfaceSchema)),
    VersionTag: About('A name for this version, which is then kept.', Nullable(VersionTagSchema)),
    Status: About('How it is doing.', ResponseOnly(Choice(jobStatuses, 'pending'))),
    StatusDescription: About('Why.', ResponseOnly(Text())),
    Stop: About('It shall not run.', Flag()),
    Stable: About('A version that is known to work.', ResponseOnly(Flag())),
    Dispatched: About('It was made by a dispatch.', ResponseOnly(Flag())),
    DispatchIdempotencyToken: About('What the dispatch was known by.', ResponseOnly(Text())),
    Version: About(
      'Counts the changes of the specification. A greater one that is given is taken.',
      Whole({ minimum: 0, maximum: limits.job.versionMax }),
    ),
    SubmitTime: About('When it was submitted.', ResponseOnly(Nullable(Instant()))),
    /** Checked at submission, never kept. */
    RegistryToken: About('Checked when the job is submitted. Read back, it is empty.', Text()),
    SecretsToken: About('Checked when the job is submitted. Read back, it is empty.', Text()),
    /** The accessor of the token that submitted the job. */
    SchedulerTokenID: About('Accessor of the token that submitted it.', ResponseOnly(Text())),
    SecretsNamespace: About('The namespace of the secrets engine.', Text()),
    ...stamps,
    /** Index of the last change of the specification. */
    JobModifyIndex: About('Index of the last change of the specification.', ResponseOnly(Whole())),
  },
  { title: 'Job' },
);
export interface Job extends Model<typeof JobSchema> {}
export type JobType = Job['Type'];
export type JobStatus = Job['Status'];
/** A job as a caller gives it. */
export type JobInput = Input<Job>;
