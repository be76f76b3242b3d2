import { Type, Whole } from '../model/schema.ts';
import { endpoints } from './endpoint.ts';
import { mayAnything } from './needs.ts';

const CollectedSchema = Type.Object({
  Jobs: Whole(),
  Evaluations: Whole(),
  Allocations: Whole(),
  Deployments: Whole(),
  Nodes: Whole(),
});

export const systemEndpoints = endpoints(
  { group: 'system', noun: 'system', family: 'scheduler' },
  {
    collectGarbage: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/system/gc',
      summary: 'Delete all unneeded records, regardless of their age, and count them',
      answer: CollectedSchema,
      permission: mayAnything,
    },
    reconcileSummaries: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/system/reconcile/summaries',
      summary: 'Count the summaries of all jobs again',
      answer: Type.Object({ Changed: Whole() }),
      permission: mayAnything,
    },
  },
);
