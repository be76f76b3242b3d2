import { checkValues } from '../../model/check-values.ts';
import { invalid, refusal } from '../../model/errors.ts';
import { unknownFieldWarnings, warningsText } from '../../model/job/warnings.ts';
import { JobSubmissionSchema } from '../../model/job-submission/job-submission.ts';
import { limits } from '../../model/limits.ts';
import { below, faultAt } from '../../model/path.ts';
import { allOf, namespaceCapability } from '../../model/permission/permission.ts';
import { Flag, Instant, Nullable, Text, Type, Whole } from '../../model/schema.ts';
import type { ServerContext } from '../../server/context.ts';
import { evaluateJob } from '../../server/jobs/evaluate.ts';
import { revertJob } from '../../server/jobs/revert.ts';
import { setStability } from '../../server/jobs/stable.ts';
import { tagVersion, untagVersion } from '../../server/jobs/tag.ts';
import { inNamespace, jobSubmissions, numberPart } from '../../state/tables.ts';
import type { QueryTable } from '../query.ts';
import { type Input, type Route, readRoute, type Scope, writeRoute } from '../route.ts';
import { accessorOf, contact, EvaluatedSchema, jobId, readJob, submitOr } from './job.ts';
import { demandTokens, type JobTokens } from './job-tokens.ts';

/** Body fields that every write on one job knows. */
const named = { JobID: Text(), Namespace: Text() };

const version = Whole({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const RevertSchema = Type.Object({
  ...named,
  JobVersion: version,
  EnforcePriorVersion: Nullable(version),
  /** As a registration has it: what comes back is held against the policies of today. */
  PolicyOverride: Flag(),
  RegistryToken: Text(),
  SecretsToken: Text(),
});
interface RevertBody {
  readonly JobID?: string;
  readonly JobVersion?: number;
  readonly EnforcePriorVersion?: number | null;
  readonly PolicyOverride?: boolean;
  readonly RegistryToken?: string;
  readonly SecretsToken?: string;
}

const StabilitySchema = Type.Object({ ...named, JobVersion: version, Stable: Flag() });
interface StabilityBody {
  readonly JobID?: string;
  readonly JobVersion?: number;
  readonly Stable?: boolean;
}

const EvaluationSchema = Type.Object({
  ...named,
  EvalOptions: Nullable(Type.Object({ ForceReschedule: Flag() })),
});
interface EvaluationBody {
  readonly JobID?: string;
  readonly EvalOptions?: { readonly ForceReschedule?: boolean } | null;
}

/** Only where there are any. */
const warned = { Warnings: Type.Optional(Text()) };

const warningsOf = ({ unknownFields }: Pick<Input, 'unknownFields'>) => {
  const Warnings = warningsText(unknownFieldWarnings(unknownFields));
  return Warnings === '' ? {} : { Warnings };
};

const description = Text({ maxLength: limits.names.descriptionLengthMax });
const TagSchema = Type.Object({
  Namespace: Text(),
  Name: Text(),
  Version: Nullable(version),
  Description: description,
});
interface TagBody {
  readonly Name?: string;
  readonly Version?: number | null;
  readonly Description?: string;
}

const TaggedSchema = Type.Object({
  Name: Text(),
  Description: Text(),
  TaggedTime: Instant(),
  Version: Whole(),
  Index: Whole(),
  ...warned,
});

/** Either method does the same: docs/contract/http.md#bodies. */
const putAndPost = ['PUT', 'POST'] as const;

/**
 * What is done with the versions of a job, and the evaluation that somebody asks for.
 * Source: docs/contract/jobs.md#versions-and-sources, #revert-stability-evaluation.
 */
export function jobVersionRoutes(server: ServerContext, tokens: JobTokens): Route[] {
  const act = <B>(
    action: Omit<Parameters<typeof writeRoute<QueryTable, B>>[0], 'method' | 'noun'>,
  ): Route[] =>
    putAndPost.map((method) => writeRoute<QueryTable, B>({ ...action, method, noun: 'job' }));

  return [
    readRoute({
      method: 'GET',
      path: '/v1/job/:job_id+/submission',
      noun: 'job',
      summary: 'Read the source that a version of a job was made from',
      query: {
        version: { kind: 'integer', required: true, description: 'The version of the job.' },
      },
      answersRow: true,
      answer: JobSubmissionSchema,
      permission: readJob,
      handle: (input) => {
        const job = jobId(input);
        const key = inNamespace(input.namespace, job, numberPart(input.query.version));
        const submission = input.snapshot.table(jobSubmissions).get(...key);
        if (submission !== undefined) return submission;
        throw refusal('submission-not-found', { job, version: input.query.version });
      },
    }),
    ...act<RevertBody>({
      path: '/v1/job/:job_id+/revert',
      summary: 'Bring an earlier version of a job back, as a new one',
      body: { schema: RevertSchema, unknown: 'report', checkValues: false },
      answer: EvaluatedSchema,
      permission: mayRevert,
      handle: async (input) => {
        const { body } = input;
        const reverted = await revertJob(server, {
          ...{ namespace: input.namespace, jobId: jobNamed(input, RevertSchema) },
          version: body.JobVersion ?? 0,
          priorVersion: body.EnforcePriorVersion ?? undefined,
          policyOverride: body.PolicyOverride ?? false,
          accessor: accessorOf(input),
          unknownFields: input.unknownFields,
          demand: (job) => demandTokens(tokens, server.state.read(), body, job),
        });
        return { index: reverted.Index, value: { ...reverted, ...contact } };
      },
    }),
    ...act<StabilityBody>({
      path: '/v1/job/:job_id+/stable',
      summary: 'Say whether a version of a job is one to go back to',
      body: { schema: StabilitySchema, unknown: 'report', checkValues: false },
      answer: Type.Object({ JobModifyIndex: Whole(), Index: Whole(), ...warned }),
      permission: ({ namespace }) => submitOr(namespace, 'stable-job'),
      handle: async (input) => {
        const { JobVersion = 0, Stable = false } = input.body;
        const set = await setStability(server, {
          ...{ namespace: input.namespace, jobId: jobNamed(input, StabilitySchema) },
          ...{ version: JobVersion, stable: Stable },
        });
        return { index: set.Index, value: { ...set, ...warningsOf(input) } };
      },
    }),
    ...act<EvaluationBody>({
      path: '/v1/job/:job_id+/evaluate',
      summary: 'Let the scheduler look at a job',
      body: { schema: EvaluationSchema, unknown: 'report', optional: true },
      answer: EvaluatedSchema,
      permission: ({ namespace }) => submitOr(namespace, 'evaluate-job'),
      handle: async (input) => {
        const { body } = input;
        const evaluated = await evaluateJob(server, {
          namespace: input.namespace,
          jobId: input.hasBody ? jobNamed(input, EvaluationSchema) : jobId(input),
          forceReschedule: body.EvalOptions?.ForceReschedule ?? false,
        });
        const Warnings = warningsText(unknownFieldWarnings(input.unknownFields));
        return { index: evaluated.Index, value: { ...evaluated, Warnings, ...contact } };
      },
    }),
    ...tagPaths.flatMap((path) => tagRoutes(server, path)),
  ];
}

/** Either is read by clients. */
const tagPaths = ['/v1/job/:job_id+/versions/:name/tag', '/v1/job/:job_id+/tag/:name'];

/** A name for a version of a job. */
const tagRoutes = (server: ServerContext, path: string): Route[] => [
  ...putAndPost.map((method) =>
    writeRoute<QueryTable, TagBody>({
      ...{ method, path, noun: 'job' },
      summary: 'Give a version of a job a name, under which it is kept',
      body: { schema: TagSchema, unknown: 'report', optional: true },
      answer: TaggedSchema,
      permission: mayTag,
      handle: async (input) => {
        const { body } = input;
        const tagged = await tagVersion(server, {
          ...{ namespace: input.namespace, jobId: jobId(input), name: tagName(input) },
          version: body.Version ?? undefined,
          description: body.Description ?? '',
        });
        return { index: tagged.Index, value: { ...tagged, ...warningsOf(input) } };
      },
    }),
  ),
  writeRoute({
    ...{ method: 'DELETE', path, noun: 'job' },
    summary: 'Take its name from a version of a job',
    answer: TaggedSchema,
    permission: mayTag,
    handle: async (input) => {
      const { namespace, parameters } = input;
      const name = parameters.name!;
      const untagged = await untagVersion(server, { namespace, jobId: jobId(input), name });
      return { index: untagged.Index, value: untagged };
    },
  }),
];

const mayRevert = ({ namespace, body }: Input<QueryTable, RevertBody>) => {
  const revert = submitOr(namespace, 'revert-job');
  if (!body.PolicyOverride) return revert;
  return allOf(revert, namespaceCapability(namespace, 'policy-override'));
};

const mayTag = ({ namespace }: Pick<Scope, 'namespace'>) => submitOr(namespace, 'tag-job-version');

/** The job that path and body name. @throws RosterError `invalid-body`, `job-id-mismatch` */
function jobNamed(
  input: Pick<Input<QueryTable, { readonly JobID?: string }>, 'parameters' | 'body'>,
  schema: Parameters<typeof checkValues>[0],
): string {
  const { JobID = '' } = input.body;
  const path = jobId(input);
  const faults = checkValues(schema, input.body);
  if (JobID === '') faults.unshift(faultAt(below(null, 'JobID'), 'is required'));
  if (faults.length > 0) throw invalid('invalid-body', faults);
  if (JobID !== path) throw refusal('job-id-mismatch', { body: JobID, path });
  return path;
}

/** @throws RosterError `malformed-request`, `id-mismatch` */
function tagName({ parameters, body }: Input<QueryTable, TagBody>): string {
  const name = parameters.name!;
  const { tagLengthMax } = limits.job;
  if (name.length > tagLengthMax) {
    const reason = `The name of a tag has at most ${tagLengthMax} characters, and this one ${name.length}.`;
    throw refusal('malformed-request', { reason });
  }
  if (body.Name && body.Name !== name) {
    throw refusal('id-mismatch', { noun: 'tag', body: body.Name, path: name });
  }
  return name;
}
