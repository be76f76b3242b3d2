import { type JobInput, JobSchema, type WrittenJob } from '../model/job/job.ts';
import { type JobPlan, JobPlanSchema } from '../model/job-plan/job-plan.ts';
import { limits } from '../model/limits.ts';
import { Flag, Nullable, Text, Type } from '../model/schema.ts';
import { endpoints, typed, written } from './endpoint.ts';
import { exampleJob } from './job.ts';
import { submitOverrideOr } from './job-rights.ts';

const envelope = {
  Diff: Flag(),
  /** Whether to keep the plan, so that it can be carried out. */
  Keep: Flag(true),
  PolicyOverride: Flag(),
  /** As in a registration. */
  PreserveCounts: Flag(),
  PreserveResources: Flag(),
  Namespace: Text(),
  Region: Text(),
};
export const PlanEnvelopeSchema = Type.Object(envelope);

/** Body of a plan. */
export interface JobPlanRequest {
  readonly Job?: JobInput | null | undefined;
  /** Whether to include the differences from the stored job. */
  readonly Diff?: boolean | undefined;
  /** Whether to keep the plan, so that it can be carried out; `true` if absent. */
  readonly Keep?: boolean | undefined;
  readonly PolicyOverride?: boolean | undefined;
  readonly PreserveCounts?: boolean | undefined;
  readonly PreserveResources?: boolean | undefined;
  readonly Region?: string | undefined;
}

/** The same as a caller writes it. */
export interface WrittenPlanRequest extends Omit<JobPlanRequest, 'Job'> {
  readonly Job?: WrittenJob | null | undefined;
}

export const jobPlanEndpoints = endpoints(
  { group: 'jobs', noun: 'job', family: 'scheduler' },
  {
    plan: {
      kind: 'write',
      methods: ['POST', 'PUT'],
      path: '/v1/job/:job_id+/plan',
      summary: 'Plan the registration of a job, without registering it',
      body: {
        schema: written<JobPlanRequest, WrittenPlanRequest>(
          Type.Object({ Job: Nullable(JobSchema), ...envelope }),
        ),
        example: { Job: exampleJob, Diff: true },
        unknown: 'report',
        bytesMax: limits.http.jobBodyBytesMax,
        checkValues: false,
      },
      answer: typed<JobPlan>(JobPlanSchema),
      permission: submitOverrideOr('plan-job'),
    },
  },
);
