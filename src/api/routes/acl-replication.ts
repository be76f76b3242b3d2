import { open } from '../../model/permission/permission.ts';
import { Flag, Text, Type, Whole } from '../../model/schema.ts';
import { type Route, readRoute } from '../route.ts';
import { requireAcl } from './acl.ts';

const ReplicationSchema = Type.Object({
  Enabled: Flag(),
  Running: Flag(),
  SourceDatacenter: Text(),
  ReplicationType: Text(),
  ReplicatedIndex: Whole(),
  ReplicatedRoleIndex: Whole(),
  ReplicatedTokenIndex: Whole(),
  LastSuccess: Text(),
  LastError: Text(),
  LastErrorMessage: Text(),
});

const never = '0001-01-01T00:00:00Z';

/** A cluster is one datacenter, whose access control comes from no other one. */
const none = {
  ...{ Enabled: false, Running: false, SourceDatacenter: '', ReplicationType: '' },
  ...{ ReplicatedIndex: 0, ReplicatedRoleIndex: 0, ReplicatedTokenIndex: 0 },
  ...{ LastSuccess: never, LastError: never, LastErrorMessage: '' },
};

export const aclReplicationRoutes = (): Route[] => [
  readRoute({
    ...{ method: 'GET', path: '/v1/acl/replication', noun: 'acl', family: 'registry' },
    summary: 'Whether access control is copied from another datacenter: it never is',
    answer: ReplicationSchema,
    permission: (input) => {
      requireAcl(input);
      return open;
    },
    handle: () => none,
  }),
];
