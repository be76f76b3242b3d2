import type { JobAction } from '../model/job/job-action.ts';
import { JobActionSchema } from '../model/job/job-action.ts';
import { type ScaleRequest, ScaleSchema } from '../model/job/scale.ts';
import type { ScaleStatus } from '../model/scaling-event/scaling-event.ts';
import { ScaleStatusSchema } from '../model/scaling-event/scaling-event.ts';
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

/** Body of a scaling. One of `Message` and `Error` is needed. */
export interface JobScaling extends ScaleRequest {
  readonly EnforceIndex?: boolean | undefined;
  readonly JobModifyIndex?: number | undefined;
  readonly PolicyOverride?: boolean | undefined;
  readonly Region?: string | undefined;
}

/** Without an evaluation the first two are not there. */
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
      summary: 'Scale a group of a job, or tell something of its scale',
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
      methods: ['GET'],
      path: '/v1/job/:job_id+/scale',
      summary: 'Read how the groups of a job are scaled',
      blocking: true,
      answer: typed<ScaleStatus>(ScaleStatusSchema),
      permission: either(capability('read-job-scaling'), readJob),
    },
    actions: {
      kind: 'list',
      methods: ['GET'],
      path: '/v1/job/:job_id+/actions',
      summary: "List the actions of a job's tasks",
      answer: typed<JobAction>(JobActionSchema),
      filter: JobActionSchema,
      permission: readJob,
    },
  },
);
