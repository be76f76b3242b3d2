import { type CheckResult, CheckResultSchema } from '../model/check-result/check-result.ts';
import { Type } from '../model/schema.ts';
import { inItsNamespace } from './allocation.ts';
import { endpoints, typed } from './endpoint.ts';
import { flag } from './query.ts';

const checks = {
  kind: 'stream',
  summary: "Read the results of an allocation's checks by id",
  query: {
    pretty: flag('Indent the answer.'),
  },
  answer: typed<Readonly<Record<string, CheckResult>>>(
    Type.Record(Type.String(), CheckResultSchema),
  ),
  permission: inItsNamespace('read-job'),
} as const;

/** The results of an allocation's checks, which are kept on its node. */
export const clientCheckEndpoints = endpoints(
  { group: 'client', noun: 'client', family: 'scheduler' },
  {
    checks: { ...checks, path: '/v1/client/allocation/:alloc_id/checks' },
    checksOfAllocation: {
      ...checks,
      path: '/v1/allocation/:alloc_id/checks',
      noun: 'allocation',
    },
  },
);
