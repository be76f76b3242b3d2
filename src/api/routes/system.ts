import { systemEndpoints as contract } from '../../contract/system.ts';
import { reconcileSummaries } from '../../server/jobs/reconcile-summaries.ts';
import type { Server } from '../../server/server.ts';
import type { Route } from '../route.ts';
import { serveWrite } from '../serve.ts';

/** Source: docs/behaviour/jobs.md#garbage-collection. */
export function systemRoutes({ context, garbage }: Server): Route[] {
  return [
    ...serveWrite(contract.collectGarbage, async () => {
      const value = await garbage.collectAll();
      return { index: context.state.read().index, value };
    }),
    ...serveWrite(contract.reconcileSummaries, async () => {
      const Changed = await reconcileSummaries(context);
      return { index: context.state.read().index, value: { Changed } };
    }),
  ];
}
