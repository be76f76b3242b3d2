import { type JobAction, JobActionSchema } from '../model/job/job-action.ts';
import { type ScaleRequest, ScaleSchema } from '../model/job/scale.ts';
import { type ScaleStatus, ScaleStatusSchema } from '../model/scaling-event/scaling-event.ts';
import { Flag, Text, Type, Whole } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { readJob, submitOverrideOr } from './job-rights.ts';
import { capability, either } from './needs.ts';

export const ScalingSchema = Type.Object({
  ...ScaleSchema.properties,
  EnforceIndex: Flag(),
  JobModifyIndex: Whole({ minimum: 0 }),
  PolicyOverride: Flag(),
  Namespace: Text(),
  Region: Text(),
});

/** Body of a scaling. Either `Message` or `Error` is required. */
export interface JobScaling extends ScaleRequest {
  readonly EnforceIndex?: boolean | undefined;
  readonly JobModifyIndex?: number | undefined;
  readonly PolicyOverride?: boolean | undefined;
  readonly Region?: string | undefined;
}

/** The first two fields are absent when no evaluation is made. */
const ScaledSchema = Type.Object({
  EvalID: Type.Optional(Text()),
  EvalCreateIndex: Type.Optional(Whole()),
  JobModifyIndex: Whole(),
  Warnings: Text(),
  Index: Whole(),
  LastContact: Whole(),
  KnownLeader: Flag(),
});

export const jobScaleEndpoints = endpoints(
  { group: 'jobs', noun: 'job', family: 'scheduler' },
  {
    scale: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/job/:job_id+/scale',
      summary: 'Scale a group of a job, or record a message about its scale',
      body: {
        example: { Count: 3, Target: { Group: 'web' }, Message: 'more visitors' },
        schema: typed<JobScaling>(ScalingSchema),
        unknown: 'report',
        checkValues: false,
      },
      answer: ScaledSchema,
      permission: submitOverrideOr('scale-job'),
    },
    scaleStatus: {
      kind: 'read',
      path: '/v1/job/:job_id+/scale',
      summary: "Read the scale of a job's groups",
      blocking: true,
      answer: typed<ScaleStatus>(ScaleStatusSchema),
      permission: either(capability('read-job-scaling'), readJob),
    },
    actions: {
      kind: 'list',
      path: '/v1/job/:job_id+/actions',
      summary: "List the actions of a job's tasks",
      answer: typed<JobAction>(JobActionSchema),
      filter: JobActionSchema,
      permission: readJob,
    },
  },
);
