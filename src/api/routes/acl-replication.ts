import { aclReplicationEndpoints as contract } from '../../contract/acl-replication.ts';
import type { Route } from '../route.ts';
import { serveRead } from '../serve.ts';

const never = '0001-01-01T00:00:00Z';

/** A cluster is one datacenter and replicates no access control. */
const none = {
  Enabled: false,
  Running: false,
  SourceDatacenter: '',
  ReplicationType: '',
  ReplicatedIndex: 0,
  ReplicatedRoleIndex: 0,
  ReplicatedTokenIndex: 0,
  LastSuccess: never,
  LastError: never,
  LastErrorMessage: '',
};

export const aclReplicationRoutes = (): Route[] => [...serveRead(contract.replication, () => none)];
