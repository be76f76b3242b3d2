import { type CheckResult, CheckResultSchema } from '../model/check-result/check-result.ts';
import { Type } from '../model/schema.ts';
import { inItsNamespace } from './allocation.ts';
import { endpoints, typed } from './endpoint.ts';

const checks = {
  kind: 'stream',
  methods: ['GET'],
  summary: 'Read how the checks of an allocation fare, by their ids',
  query: {
    pretty: { kind: 'boolean', default: false, description: 'Indent the answer.' },
  },
  answer: typed<Readonly<Record<string, CheckResult>>>(
    Type.Record(Type.String(), CheckResultSchema),
  ),
  permission: inItsNamespace('read-job'),
} as const;

/** How the checks of an allocation fare: only its node knows. */
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
