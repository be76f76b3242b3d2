import { type DispatchInput, DispatchSchema } from '../model/job/dispatch.ts';
import { limits } from '../model/limits.ts';
import { Text, Type, Whole } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { capability, either } from './needs.ts';
import { text } from './query.ts';

const ForcedSchema = Type.Object({ EvalID: Text(), EvalCreateIndex: Whole(), Index: Whole() });

const DispatchedSchema = Type.Object({
  DispatchedJobID: Text(),
  EvalID: Text(),
  EvalCreateIndex: Whole(),
  JobCreateIndex: Whole(),
  Index: Whole(),
  /** Absent when there are none. */
  Warnings: Type.Optional(Text()),
});

const dispatch = {
  kind: 'write',
  methods: ['PUT', 'POST'],
  query: {
    IdempotencyToken: text('Only the first dispatch with this token creates a child.', {
      lengthMax: limits.names.lengthMax,
    }),
  },
  answer: DispatchedSchema,
  permission: capability('dispatch-job'),
} as const;

const dispatchBody = {
  example: { Payload: 'aGVsbG8=', Meta: { site: 'berlin' } },
  schema: typed<DispatchInput>(DispatchSchema),
  unknown: 'report',
  optional: true,
  checkValues: false,
} as const;

export const jobLaunchEndpoints = endpoints(
  { group: 'jobs', noun: 'job', family: 'scheduler' },
  {
    dispatch: {
      ...dispatch,
      path: '/v1/job/:job_id+/dispatch',
      summary: 'Dispatch a job',
      body: dispatchBody,
    },
    dispatchPayload: {
      ...dispatch,
      path: '/v1/job/:job_id+/dispatch/payload',
      summary: 'Dispatch a job with the body as its payload',
      body: { ...dispatchBody, raw: 'Payload' },
    },
    forcePeriodic: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/job/:job_id+/periodic/force',
      summary: 'Launch a periodic job now',
      answer: ForcedSchema,
      permission: either(...['dispatch-job', 'submit-job', 'force-periodic-job'].map(capability)),
    },
  },
);
