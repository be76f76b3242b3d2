import { type JobInput, JobSchema } from '../model/job/job.ts';
import { UnsetJobSchema } from '../model/job/unset.ts';
import { limits } from '../model/limits.ts';
import { Flag, FullList, Nullable, Text, Type } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { exampleJob } from './job.ts';
import { capability, either } from './needs.ts';

const ParseSchema = Type.Object({ JobHCL: Text(), Canonicalize: Flag(), Variables: Text() });

const ValidationSchema = Type.Object({
  Job: Nullable(JobSchema),
  Namespace: Text(),
  Region: Text(),
});

/** Source: docs/behaviour/jobs.md#parse-and-validate. */
const ValidatedSchema = Type.Object({
  DriverConfigValidated: Flag(),
  ValidationErrors: FullList(Type.String()),
  Error: Text(),
  Warnings: Text(),
});

export const jobFileEndpoints = endpoints(
  { group: 'jobs', noun: 'job', family: 'scheduler' },
  {
    parse: {
      kind: 'write',
      methods: ['POST', 'PUT'],
      path: '/v1/jobs/parse',
      summary: 'Read a job file in HCL',
      body: {
        example: { JobHCL: 'job "web" { }', Canonicalize: true },
        schema: ParseSchema,
        unknown: 'report',
        bytesMax: limits.http.jobBodyBytesMax,
      },
      answer: typed<JobInput>(UnsetJobSchema),
      permission: either(capability('parse-job'), capability('submit-job')),
    },
    validate: {
      kind: 'write',
      methods: ['POST', 'PUT'],
      path: '/v1/validate/job',
      summary: 'Validate a job',
      body: {
        example: { Job: exampleJob },
        schema: ValidationSchema,
        unknown: 'report',
        checkValues: false,
        bytesMax: limits.http.jobBodyBytesMax,
      },
      answer: ValidatedSchema,
      permission: capability('read-job'),
    },
  },
);
