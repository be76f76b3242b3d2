import { systemEndpoints as contract } from '../../contract/system.ts';
import { reconcileSummaries } from '../../server/jobs/reconcile-summaries.ts';
import type { Server } from '../../server/server.ts';
import type { Route } from '../route.ts';
import { serveWrite } from '../serve.ts';

/** Source: docs/behaviour/jobs.md#garbage-collection. */
export function systemRoutes(server: Server): Route[] {
  const { context } = server;
  return [
    ...serveWrite(contract.collectGarbage, async () => {
      const value = await server.garbage.collectAll();
      return { index: context.state.read().index, value };
    }),
    ...serveWrite(contract.reconcileSummaries, async () => {
      const Changed = await reconcileSummaries(context);
      return { index: context.state.read().index, value: { Changed } };
    }),
  ];
}
