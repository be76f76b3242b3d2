import { jobPolicyEndpoints as contract } from '../../contract/job-policy.ts';
import type { JobPolicy } from '../../model/job-policy/job-policy.ts';
import type { ServerContext } from '../../server/context.ts';
import {
  deleteJobPolicy,
  requirePolicyNamed,
  writeJobPolicy,
} from '../../server/job-policies/write.ts';
import { jobPolicies } from '../../state/tables.ts';
import type { Route } from '../route.ts';
import { serveList, serveRead, serveWrite } from '../serve.ts';

/** Source: docs/contract/jobs.md#job-policies. */
export const jobPolicyRoutes = (server: ServerContext): Route[] => [
  ...serveList(contract.list, {
    rows: ({ query, snapshot }, { from, reverse }) =>
      snapshot.table(jobPolicies).scan({ text: query.prefix, ...(from && { from }), reverse }),
    keyOf: ({ Name }: JobPolicy) => [Name],
    present: (policy) => policy,
  }),
  ...serveRead(
    contract.read,
    ({ parameters, snapshot }) => requirePolicyNamed(snapshot, parameters.name!),
    { answersRow: true },
  ),
  ...serveWrite(contract.write, ({ parameters, query, body }) =>
    writeJobPolicy(server, parameters.name!, body, query.cas),
  ),
  ...serveWrite(contract.delete, ({ parameters, query }) =>
    deleteJobPolicy(server, parameters.name!, query.cas),
  ),
];
