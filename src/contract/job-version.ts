import { JobSchema } from '../model/job/job.ts';
import { JobDiffSchema } from '../model/job-diff/job-diff.ts';
import { type JobSubmission, JobSubmissionSchema } from '../model/job-submission/job-submission.ts';
import { limits } from '../model/limits.ts';
import { Flag, FullList, Instant, List, Nullable, Text, Type, Whole } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { EvaluatedSchema } from './job.ts';
import { readJob, submitOverrideOr } from './job-rights.ts';
import { submitOr } from './needs.ts';

/** Body fields that every write on one job knows. */
const named = { JobID: Text(), Namespace: Text() };

const version = Whole({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

export const RevertSchema = Type.Object({
  ...named,
  JobVersion: version,
  EnforcePriorVersion: Nullable(version),
  /** As a registration has it: what comes back is held against the policies of today. */
  PolicyOverride: Flag(),
  RegistryToken: Text(),
  SecretsToken: Text(),
});

export const StabilitySchema = Type.Object({ ...named, JobVersion: version, Stable: Flag() });

export const EvaluationSchema = Type.Object({
  ...named,
  EvalOptions: Nullable(Type.Object({ ForceReschedule: Flag() })),
});

/** Only where there are any. */
const warned = { Warnings: Type.Optional(Text()) };

const TagSchema = Type.Object({
  Namespace: Text(),
  Name: Text(),
  Version: Nullable(version),
  Description: Text({ maxLength: limits.names.descriptionLengthMax }),
});

const TaggedSchema = Type.Object({
  Name: Text(),
  Description: Text(),
  TaggedTime: Instant(),
  Version: Whole(),
  Index: Whole(),
  ...warned,
});

const tag = {
  kind: 'write',
  methods: ['PUT', 'POST'],
  summary: 'Give a version of a job a name, under which it is kept',
  body: { schema: TagSchema, unknown: 'report', optional: true },
  answer: TaggedSchema,
  permission: submitOr('tag-job-version'),
} as const;

const untag = {
  kind: 'write',
  methods: ['DELETE'],
  summary: 'Take its name from a version of a job',
  answer: TaggedSchema,
  permission: submitOr('tag-job-version'),
} as const;

/** What is done with the versions of a job, and the evaluation that somebody asks for. */
export const jobVersionEndpoints = endpoints(
  { group: 'jobs', noun: 'job', family: 'scheduler' },
  {
    submission: {
      kind: 'read',
      methods: ['GET'],
      path: '/v1/job/:job_id+/submission',
      summary: 'Read the source that a version of a job was made from',
      query: {
        version: { kind: 'integer', required: true, description: 'The version of the job.' },
      },
      answer: typed<JobSubmission>(JobSubmissionSchema),
      permission: readJob,
    },
    revert: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/job/:job_id+/revert',
      summary: 'Bring an earlier version of a job back, as a new one',
      body: { schema: RevertSchema, unknown: 'report', checkValues: false },
      answer: EvaluatedSchema,
      permission: submitOverrideOr('revert-job'),
    },
    setStability: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/job/:job_id+/stable',
      summary: 'Say whether a version of a job is one to go back to',
      body: { schema: StabilitySchema, unknown: 'report', checkValues: false },
      answer: Type.Object({ JobModifyIndex: Whole(), Index: Whole(), ...warned }),
      permission: submitOr('stable-job'),
    },
    evaluate: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/job/:job_id+/evaluate',
      summary: 'Let the scheduler look at a job',
      body: { schema: EvaluationSchema, unknown: 'report', optional: true },
      answer: EvaluatedSchema,
      permission: submitOr('evaluate-job'),
    },
    tagVersion: { ...tag, path: '/v1/job/:job_id+/versions/:name/tag' },
    untagVersion: { ...untag, path: '/v1/job/:job_id+/versions/:name/tag' },
    tag: { ...tag, path: '/v1/job/:job_id+/tag/:name' },
    untag: { ...untag, path: '/v1/job/:job_id+/tag/:name' },
  },
);

export const versionsQuery = {
  diffs: {
    kind: 'boolean',
    default: false,
    description: 'Tell what is different from each version to the next.',
  },
  diff_version: {
    kind: 'integer',
    description: 'With diffs: what each version has other than this one, and not its predecessor.',
  },
  diff_tag: { kind: 'string', default: '', description: 'The same, by the name of a tag.' },
} as const;

const VersionsSchema = Type.Object({
  /** The newest first. */
  Versions: FullList(JobSchema),
  /** Each with its predecessor; null when not asked for. */
  Diffs: List(JobDiffSchema),
  Index: Whole(),
  LastContact: Whole(),
  KnownLeader: Flag(),
});

export const jobVersionsEndpoints = endpoints(
  { group: 'jobs', noun: 'job', family: 'scheduler' },
  {
    versions: {
      kind: 'read',
      methods: ['GET'],
      path: '/v1/job/:job_id+/versions',
      summary: "List a job's versions, the newest first",
      blocking: true,
      query: versionsQuery,
      answer: VersionsSchema,
      permission: readJob,
    },
  },
);
