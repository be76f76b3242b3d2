import { checkValues } from '../../model/check-values.ts';
import { invalid } from '../../model/errors.ts';
import { type JobInput, JobSchema } from '../../model/job/job.ts';
import { JobPlanSchema } from '../../model/job-plan/job-plan.ts';
import { limits } from '../../model/limits.ts';
import { allOf, namespaceCapability } from '../../model/permission/permission.ts';
import { Flag, Nullable, Text, Type } from '../../model/schema.ts';
import type { Planner, PlanRequest } from '../../server/jobs/planner.ts';
import type { Finish } from '../../server/jobs/register.ts';
import type { QueryTable } from '../query.ts';
import { type Input, type Route, writeRoute } from '../route.ts';
import type { Turns } from '../turns.ts';
import { jobRequired, submitOr } from './job.ts';

const envelope = {
  Diff: Flag(),
  PolicyOverride: Flag(),
  /** A plan takes all that a registration may preserve. */
  PreserveCounts: Flag(),
  PreserveResources: Flag(),
  Namespace: Text(),
  Region: Text(),
};
const EnvelopeSchema = Type.Object(envelope);
const PlanSchema = Type.Object({ Job: Nullable(JobSchema), ...envelope });

interface PlanBody {
  readonly Job?: JobInput | null;
  readonly Diff?: boolean;
  readonly PolicyOverride?: boolean;
  readonly PreserveCounts?: boolean;
  readonly PreserveResources?: boolean;
  readonly Region?: string;
}

const planJob = ({ namespace, body }: Input<QueryTable, PlanBody>) => {
  const plan = submitOr(namespace, 'plan-job');
  if (!body.PolicyOverride) return plan;
  return allOf(plan, namespaceCapability(namespace, 'policy-override'));
};

/** Source: docs/contract/jobs.md#plan-a-job, docs/behaviour/jobs.md#plans. */
export function jobPlanRoutes(planner: Planner, turns: Turns): Route[] {
  const finish: Finish = (steps) => turns.finish(steps);
  const planRoute = (method: 'PUT' | 'POST') =>
    writeRoute<QueryTable, PlanBody>({
      method,
      path: '/v1/job/:job_id+/plan',
      noun: 'job',
      summary: 'Say what registering a job would do, and write nothing',
      body: {
        schema: PlanSchema,
        unknown: 'report',
        bytesMax: limits.http.jobBodyBytesMax,
        checkValues: false,
      },
      answer: JobPlanSchema,
      permission: planJob,
      handle: async (input) => {
        const { body, caller, namespace, allows } = input;
        const faults = checkValues(EnvelopeSchema, body);
        if (!body.Job) throw invalid('invalid-body', [jobRequired, ...faults]);
        const request: PlanRequest = {
          job: body.Region ? { ...body.Job, Region: body.Region } : body.Job,
          namespace,
          jobId: input.parameters.job_id,
          accessor: caller.kind === 'token' ? caller.accessor : '',
          unknownFields: input.unknownFields,
          faults,
          preserveCounts: body.PreserveCounts ?? false,
          preserveResources: body.PreserveResources ?? false,
          policyOverride: body.PolicyOverride ?? false,
          diff: body.Diff ?? false,
          mayRead: (name) => allows(namespaceCapability(name, 'read-job')),
        };
        const { index, plan: value } = await planner.plan(request, finish);
        return { index, value };
      },
    });
  return [planRoute('POST'), planRoute('PUT')];
}
