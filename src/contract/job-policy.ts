import { type JobPolicy, JobPolicySchema } from '../model/job-policy/job-policy.ts';
import { Type } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { resource } from './needs.ts';
import { guard, namePrefix } from './query.ts';

/** Job policies apply to every namespace. */
const reads = resource('operator', 'read');
const writes = resource('operator', 'write');

export const jobPolicyEndpoints = endpoints(
  { group: 'job-policies', noun: 'job policy', family: 'scheduler' },
  {
    list: {
      kind: 'list',
      path: '/v1/job-policies',
      summary: 'List the job policies',
      blocking: true,
      query: namePrefix,
      answer: typed<JobPolicy>(JobPolicySchema),
      filter: JobPolicySchema,
      permission: reads,
    },
    read: {
      kind: 'read',
      path: '/v1/job-policy/:name',
      summary: 'Read a job policy',
      blocking: true,
      answer: typed<JobPolicy>(JobPolicySchema),
      permission: reads,
    },
    write: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/job-policy/:name',
      summary: 'Create or replace a job policy',
      query: guard('policy'),
      body: {
        example: { EnforcementLevel: 'advisory', Rule: 'owner in Meta', Message: 'Name an owner.' },
        schema: JobPolicySchema,
        unknown: 'refuse',
        checkValues: false,
      },
      answer: typed<JobPolicy>(JobPolicySchema),
      permission: writes,
    },
    delete: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/job-policy/:name',
      summary: 'Delete a job policy',
      query: guard('policy'),
      answer: Type.Boolean(),
      permission: writes,
    },
  },
);
