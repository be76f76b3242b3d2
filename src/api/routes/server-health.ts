import { serverHealthEndpoints as contract } from '../../contract/server-health.ts';
import { serversHealth } from '../../server/health.ts';
import type { Server } from '../../server/server.ts';
import { jsonType } from '../http.ts';
import type { Route } from '../route.ts';
import { serveStream } from '../serve.ts';

/** Source: docs/operations/servers.md#health. */
export const serverHealthRoutes = (server: Server, ownAddress: () => string): Route[] =>
  serveStream(contract.health, async () => {
    const body = JSON.stringify(await serversHealth(server, ownAddress()));
    return { status: 200, headers: jsonType, body };
  });
