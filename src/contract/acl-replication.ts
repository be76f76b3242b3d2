import { Flag, Text, Type, Whole } from '../model/schema.ts';
import { endpoints } from './endpoint.ts';
import { nothing, underAccessControl } from './needs.ts';

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

export const aclReplicationEndpoints = endpoints(
  { group: 'acl', noun: 'acl', family: 'registry' },
  {
    replication: {
      kind: 'read',
      path: '/v1/acl/replication',
      summary: 'Read the state of replication of access control, which does not exist',
      answer: ReplicationSchema,
      permission: underAccessControl(nothing),
    },
  },
);
