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
      summary: 'Delete what nobody needs any more, however young; tells how much that was',
      answer: CollectedSchema,
      permission: mayAnything,
    },
    reconcileSummaries: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/system/reconcile/summaries',
      summary: "Count every job's summary anew",
      answer: Type.Object({ Changed: Whole() }),
      permission: mayAnything,
    },
  },
);
