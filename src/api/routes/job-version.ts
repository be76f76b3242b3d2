import {
  jobVersionEndpoints as contract,
  EvaluationSchema,
  RevertSchema,
  StabilitySchema,
} from '../../contract/job-version.ts';
import type { QueryTable } from '../../contract/query.ts';
import { checkValues } from '../../model/check-values.ts';
import { invalid, refusal } from '../../model/errors.ts';
import { unknownFieldWarnings, warningsText } from '../../model/job/warnings.ts';
import { limits } from '../../model/limits.ts';
import { below, faultAt } from '../../model/path.ts';
import type { ServerContext } from '../../server/context.ts';
import { evaluateJob } from '../../server/jobs/evaluate.ts';
import { revertJob } from '../../server/jobs/revert.ts';
import { setStability } from '../../server/jobs/stable.ts';
import { tagVersion, untagVersion } from '../../server/jobs/tag.ts';
import { inNamespace, jobSubmissions, numberPart } from '../../state/tables.ts';
import type { Input, Route } from '../route.ts';
import { type InputOf, serveRead, serveWrite } from '../serve.ts';
import { accessorOf, contact, jobId } from './job.ts';
import { demandTokens, type JobTokens } from './job-tokens.ts';

const warningsOf = ({ unknownFields }: Pick<Input, 'unknownFields'>) => {
  const Warnings = warningsText(unknownFieldWarnings(unknownFields));
  return Warnings === '' ? {} : { Warnings };
};

/**
 * Actions on versions of a job, and evaluations on request.
 * Source: docs/contract/jobs.md#versions-and-sources, #revert-stability-evaluation.
 */
export function jobVersionRoutes(server: ServerContext, tokens: JobTokens): Route[] {
  const tag = async (input: InputOf<typeof contract.tag>) => {
    const { body } = input;
    const tagged = await tagVersion(server, {
      namespace: input.namespace,
      jobId: jobId(input),
      name: tagName(input),
      version: body.Version ?? undefined,
      description: body.Description ?? '',
    });
    return { index: tagged.Index, value: { ...tagged, ...warningsOf(input) } };
  };
  const untag = async (input: InputOf<typeof contract.untag>) => {
    const { namespace, parameters } = input;
    const { name } = parameters;
    const untagged = await untagVersion(server, { namespace, jobId: jobId(input), name });
    return { index: untagged.Index, value: untagged };
  };
  return [
    ...serveRead(
      contract.submission,
      (input) => {
        const job = jobId(input);
        const key = inNamespace(input.namespace, job, numberPart(input.query.version));
        const submission = input.snapshot.table(jobSubmissions).get(...key);
        if (submission !== undefined) return submission;
        throw refusal('submission-not-found', { job, version: input.query.version });
      },
      { answersRow: true },
    ),
    ...serveWrite(contract.revert, async (input) => {
      const { body } = input;
      const reverted = await revertJob(server, {
        namespace: input.namespace,
        jobId: jobNamed(input, RevertSchema),
        version: body.JobVersion ?? 0,
        priorVersion: body.EnforcePriorVersion ?? undefined,
        policyOverride: body.PolicyOverride ?? false,
        accessor: accessorOf(input),
        unknownFields: input.unknownFields,
        demand: (job) => demandTokens(tokens, server.state.read(), body, job),
      });
      return { index: reverted.Index, value: { ...reverted, ...contact } };
    }),
    ...serveWrite(contract.setStability, async (input) => {
      const { JobVersion = 0, Stable = false } = input.body;
      const set = await setStability(server, {
        namespace: input.namespace,
        jobId: jobNamed(input, StabilitySchema),
        version: JobVersion,
        stable: Stable,
      });
      return { index: set.Index, value: { ...set, ...warningsOf(input) } };
    }),
    ...serveWrite(contract.evaluate, async (input) => {
      const { body } = input;
      const evaluated = await evaluateJob(server, {
        namespace: input.namespace,
        jobId: input.hasBody ? jobNamed(input, EvaluationSchema) : jobId(input),
        forceReschedule: body.EvalOptions?.ForceReschedule ?? false,
      });
      const Warnings = warningsText(unknownFieldWarnings(input.unknownFields));
      return { index: evaluated.Index, value: { ...evaluated, Warnings, ...contact } };
    }),
    ...serveWrite(contract.tagVersion, tag),
    ...serveWrite(contract.untagVersion, untag),
    ...serveWrite(contract.tag, tag),
    ...serveWrite(contract.untag, untag),
  ];
}

/** The job named in path and body. @throws RosterError `invalid-body`, `job-id-mismatch` */
function jobNamed(
  input: Pick<
    Input<QueryTable, { readonly JobID?: string | null | undefined }>,
    'parameters' | 'body'
  >,
  schema: Parameters<typeof checkValues>[0],
): string {
  const JobID = input.body.JobID ?? '';
  const path = jobId(input);
  const faults = checkValues(schema, input.body);
  if (JobID === '') faults.unshift(faultAt(below(null, 'JobID'), 'is required'));
  if (faults.length > 0) throw invalid('invalid-body', faults);
  if (JobID !== path) throw refusal('job-id-mismatch', { body: JobID, path });
  return path;
}

/** @throws RosterError `malformed-request`, `id-mismatch` */
function tagName({ parameters, body }: InputOf<typeof contract.tag>): string {
  const { name } = parameters;
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
