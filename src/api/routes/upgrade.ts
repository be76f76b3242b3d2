import { upgradeEndpoints as contract } from '../../contract/upgrade.ts';
import type { Server } from '../../server/server.ts';
import { clusterVersions } from '../../state/tables.ts';
import type { Route } from '../route.ts';
import { serveRead, serveWrite } from '../serve.ts';

/** Source: docs/operations/upgrade.md. */
export const upgradeRoutes = (server: Server): Route[] => [
  ...serveRead(contract.read, ({ snapshot }) => {
    const { upgrades } = server.leading;
    snapshot.table(clusterVersions).get('version');
    return upgrades.status();
  }),
  ...serveWrite(contract.hold, async ({ body }) => {
    const { upgrades } = server.leading;
    const { index } = await upgrades.hold(body.Hold === true);
    return { index, value: upgrades.status() };
  }),
  ...serveWrite(contract.finalize, async () => {
    const { upgrades } = server.leading;
    const { index } = await upgrades.finish();
    return { index, value: upgrades.status() };
  }),
];
