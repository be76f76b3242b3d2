import { Attention } from '../../server/attention/attention.ts';
import { OverviewCounts } from '../../server/overview/overview.ts';
import type { Server } from '../../server/server.ts';
import type { Route } from '../route.ts';
import { attentionRoutes, type OwnFacts } from './attention.ts';
import { overviewRoutes } from './overview.ts';
import { searchRoutes } from './search.ts';
import { signInLinkRoutes } from './sign-in-link.ts';

/** The questions of the web interface that belong to no noun. */
export function questionRoutes(server: Server, facts: OwnFacts): Route[] {
  const { state, world, box } = server.context;
  const attention = new Attention({ state, box, nowMs: () => world.clock.nowMs() });
  return [
    ...signInLinkRoutes(server),
    ...attentionRoutes(server, attention, facts),
    ...overviewRoutes(new OverviewCounts(state)),
    ...searchRoutes(world.clock),
  ];
}
