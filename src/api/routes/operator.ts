import type { Server } from '../../server/server.ts';
import type { Route } from '../route.ts';
import { diagnosisRoutes, type ProfileOfReader } from './diagnosis.ts';
import { keyringRoutes } from './keyring.ts';
import { leaderRoutes } from './leader.ts';
import { operatorSchedulerRoutes } from './operator-scheduler.ts';
import { snapshotRoutes } from './snapshot.ts';
import { upgradeRoutes } from './upgrade.ts';

/** The requests that maintain the control plane itself. */
export const operatorRoutes = (server: Server, profileOfReader?: ProfileOfReader): Route[] => [
  ...leaderRoutes(server),
  ...operatorSchedulerRoutes(server),
  ...keyringRoutes(server),
  ...snapshotRoutes(server),
  ...upgradeRoutes(server),
  ...diagnosisRoutes(server, profileOfReader),
];
