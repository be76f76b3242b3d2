import {
  type JobPolicy,
  type JobPolicyRequest,
  JobPolicySchema,
} from '../../model/job-policy/job-policy.ts';
import { resourceAccess } from '../../model/permission/permission.ts';
import { Type } from '../../model/schema.ts';
import type { ServerContext } from '../../server/context.ts';
import {
  deleteJobPolicy,
  requirePolicyNamed,
  writeJobPolicy,
} from '../../server/job-policies/write.ts';
import { jobPolicies } from '../../state/tables.ts';
import { type Input, listRoute, type Route, readRoute, writeRoute } from '../route.ts';

const noun = 'job policy';
const path = '/v1/job-policy/:name';

const guard = {
  cas: {
    kind: 'integer',
    description: 'Only if the policy has this ModifyIndex; 0: only if there is none.',
  },
} as const;

type Write = Input<typeof guard, JobPolicyRequest>;

/** They bind every namespace, so they are the operator's. */
const may = (access: 'read' | 'write') => () => resourceAccess('operator', access);

/** What jobs have to be like. Source: docs/contract/jobs.md#job-policies. */
export const jobPolicyRoutes = (server: ServerContext): Route[] => [
  listRoute({
    ...{ method: 'GET', path: '/v1/job-policies', noun },
    summary: 'List the job policies',
    blocking: true,
    query: {
      prefix: { kind: 'string', default: '', description: 'The beginning of the name.' },
    },
    answer: JobPolicySchema,
    filterSchema: JobPolicySchema,
    permission: may('read'),
    rows: ({ query, snapshot }, { from, reverse }) =>
      snapshot.table(jobPolicies).scan({ text: query.prefix, ...(from && { from }), reverse }),
    keyOf: ({ Name }: JobPolicy) => [Name],
    present: (policy) => policy,
  }),
  readRoute({
    ...{ method: 'GET', path, noun },
    summary: 'Read a job policy',
    blocking: true,
    answersRow: true,
    answer: JobPolicySchema,
    permission: may('read'),
    handle: ({ parameters, snapshot }) => requirePolicyNamed(snapshot, parameters.name!),
  }),
  ...(['PUT', 'POST'] as const).map((method) =>
    writeRoute({
      ...{ method, path, noun, query: guard, answer: JobPolicySchema },
      summary: 'Create or replace a job policy',
      body: { schema: JobPolicySchema, unknown: 'refuse', checkValues: false },
      permission: may('write'),
      handle: ({ parameters, query, body }: Write) =>
        writeJobPolicy(server, parameters.name!, body, query.cas),
    }),
  ),
  writeRoute({
    ...{ method: 'DELETE', path, noun, query: guard, answer: Type.Boolean() },
    summary: 'Delete a job policy',
    permission: may('write'),
    handle: ({ parameters, query }) => deleteJobPolicy(server, parameters.name!, query.cas),
  }),
];
