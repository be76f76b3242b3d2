import { management } from '../../model/permission/permission.ts';
import { Type, Whole } from '../../model/schema.ts';
import { reconcileSummaries } from '../../server/jobs/reconcile-summaries.ts';
import type { Server } from '../../server/server.ts';
import { type Route, writeRoute } from '../route.ts';

const CollectedSchema = Type.Object({
  Jobs: Whole(),
  Evaluations: Whole(),
  Allocations: Whole(),
  Deployments: Whole(),
  Nodes: Whole(),
});

/** Looking after what is stored. Source: docs/behaviour/jobs.md#garbage-collection. */
export function systemRoutes({ context, garbage }: Server): Route[] {
  return [
    writeRoute({
      method: 'PUT',
      path: '/v1/system/gc',
      noun: 'system',
      summary: 'Delete what nobody needs any more, however young; tells how much that was',
      answer: CollectedSchema,
      permission: () => management,
      handle: async () => {
        const value = await garbage.collectAll();
        return { index: context.state.read().index, value };
      },
    }),
    writeRoute({
      method: 'PUT',
      path: '/v1/system/reconcile/summaries',
      noun: 'system',
      summary: "Count every job's summary anew",
      answer: Type.Object({ Changed: Whole() }),
      permission: () => management,
      handle: async () => {
        const Changed = await reconcileSummaries(context);
        return { index: context.state.read().index, value: { Changed } };
      },
    }),
  ];
}
