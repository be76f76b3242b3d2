import { leaderEndpoints as contract } from '../../contract/leader.ts';
import type { Server } from '../../server/server.ts';
import type { Route } from '../route.ts';
import { serveWrite } from '../serve.ts';

/** Source: docs/operations/servers.md#let-another-server-lead. */
export const leaderRoutes = ({ context, handOver, keptAnswers, servers }: Server): Route[] =>
  serveWrite(contract.stepDown, async () => {
    const isDone = await keptAnswers.noteRun(() => handOver.requireOther());
    // The request itself is a write that runs.
    const leader = isDone ? servers.leader() : await handOver.run(1);
    return { index: context.state.read().index, value: { Leader: leader?.address ?? '' } };
  });
