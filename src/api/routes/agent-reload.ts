import { agentReloadEndpoints as contract } from '../../contract/agent-reload.ts';
import { auditedReload, type Reload } from '../reload.ts';
import type { Route } from '../route.ts';
import { serveWrite } from '../serve.ts';

/** Source: docs/reference/agent-configuration.md#reload. */
export const agentReloadRoutes = (reload: Reload): Route[] =>
  serveWrite(contract.reload, async () => {
    const value = await reload();
    return { value, made: auditedReload(value) };
  });
