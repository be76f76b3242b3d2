import type { JobPolicy } from '../model/job-policy/job-policy.ts';
import { JobPolicySchema } from '../model/job-policy/job-policy.ts';
import { Type } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { resource } from './needs.ts';

const guard = {
  cas: {
    kind: 'integer',
    description: 'Only if the policy has this ModifyIndex; 0: only if there is none.',
  },
} as const;

/** They bind every namespace, so they are the operator's. */
const reads = resource('operator', 'read');
const writes = resource('operator', 'write');

export const jobPolicyEndpoints = endpoints(
  { group: 'job-policies', noun: 'job policy', family: 'scheduler' },
  {
    list: {
      kind: 'list',
      methods: ['GET'],
      path: '/v1/job-policies',
      summary: 'List the job policies',
      blocking: true,
      query: {
        prefix: { kind: 'string', default: '', description: 'The beginning of the name.' },
      },
      answer: typed<JobPolicy>(JobPolicySchema),
      filter: JobPolicySchema,
      permission: reads,
    },
    read: {
      kind: 'read',
      methods: ['GET'],
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
      query: guard,
      body: { schema: JobPolicySchema, unknown: 'refuse', checkValues: false },
      answer: typed<JobPolicy>(JobPolicySchema),
      permission: writes,
    },
    delete: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/job-policy/:name',
      summary: 'Delete a job policy',
      query: guard,
      answer: Type.Boolean(),
      permission: writes,
    },
  },
);
