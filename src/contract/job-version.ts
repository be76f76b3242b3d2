import { JobSchema } from '../model/job/job.ts';
import { JobDiffSchema } from '../model/job-diff/job-diff.ts';
import { type JobSubmission, JobSubmissionSchema } from '../model/job-submission/job-submission.ts';
import { limits } from '../model/limits.ts';
import { Flag, FullList, Instant, List, Nullable, Text, Type, Whole } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { EvaluatedSchema } from './job.ts';
import { readJob, submitOverrideOr } from './job-rights.ts';
import { submitOr } from './needs.ts';
import { flag, text } from './query.ts';

/** Body fields of every write on a job. */
const named = { JobID: Text(), Namespace: Text() };

const version = Whole({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

export const RevertSchema = Type.Object({
  ...named,
  JobVersion: version,
  EnforcePriorVersion: Nullable(version),
  /** As in a registration. The restored version is checked against the current policies. */
  PolicyOverride: Flag(),
  RegistryToken: Text(),
  SecretsToken: Text(),
});

export const StabilitySchema = Type.Object({ ...named, JobVersion: version, Stable: Flag() });

export const EvaluationSchema = Type.Object({
  ...named,
  EvalOptions: Nullable(Type.Object({ ForceReschedule: Flag() })),
});

/** Absent when there are none. */
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
  summary: 'Tag a version of a job; tagged versions are kept',
  body: {
    example: { Version: 1, Description: 'before the migration' },
    schema: TagSchema,
    unknown: 'report',
    optional: true,
  },
  answer: TaggedSchema,
  permission: submitOr('tag-job-version'),
} as const;

const untag = {
  kind: 'write',
  methods: ['DELETE'],
  summary: 'Remove the tag of a version of a job',
  answer: TaggedSchema,
  permission: submitOr('tag-job-version'),
} as const;

/** Actions on versions of a job, and evaluations on request. */
export const jobVersionEndpoints = endpoints(
  { group: 'jobs', noun: 'job', family: 'scheduler' },
  {
    submission: {
      kind: 'read',
      path: '/v1/job/:job_id+/submission',
      summary: 'Read the source of a version of a job',
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
      summary: 'Revert a job to an earlier version, as a new version',
      body: {
        example: { JobID: 'web', JobVersion: 1 },
        schema: RevertSchema,
        unknown: 'report',
        checkValues: false,
      },
      answer: EvaluatedSchema,
      permission: submitOverrideOr('revert-job'),
    },
    setStability: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/job/:job_id+/stable',
      summary: 'Mark a version of a job as stable or not',
      body: {
        example: { JobID: 'web', JobVersion: 1, Stable: true },
        schema: StabilitySchema,
        unknown: 'report',
        checkValues: false,
      },
      answer: Type.Object({ JobModifyIndex: Whole(), Index: Whole(), ...warned }),
      permission: submitOr('stable-job'),
    },
    evaluate: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/job/:job_id+/evaluate',
      summary: 'Evaluate a job',
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
  diffs: flag('Include the differences between successive versions.'),
  diff_version: {
    kind: 'integer',
    description: 'With diffs: compare each version with this one instead of its predecessor.',
  },
  diff_tag: text('As `diff_version`, by the name of a tag.'),
} as const;

const VersionsSchema = Type.Object({
  /** The newest version is first. */
  Versions: FullList(JobSchema),
  /** Each version's differences from its predecessor; null unless requested. */
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
      path: '/v1/job/:job_id+/versions',
      summary: "List a job's versions, the newest first",
      blocking: true,
      query: versionsQuery,
      answer: VersionsSchema,
      permission: readJob,
    },
  },
);
