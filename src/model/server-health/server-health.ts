import {
  About,
  Choice,
  Flag,
  FullList,
  Instant,
  type Model,
  Text,
  Type,
  Whole,
} from '../schema.ts';

/** A server, as the server that is asked sees it. The fields after `Status` are those of servers that answer. */
export const ServerHealthSchema = Type.Object({
  ID: Text(),
  Address: Text(),
  Self: About('Whether it is the server that answers.', Flag()),
  Leader: Flag(),
  Healthy: About('Whether it could lead at once.', Flag()),
  Faults: About('Why it is not healthy.', FullList(Type.String())),
  Warnings: About('What an operator should look after.', FullList(Type.String())),
  Status: Choice(['alive', 'unreachable'] as const, 'alive'),
  Version: Type.Optional(Text()),
  Index: Type.Optional(About('Index of the newest transaction that it shows.', Whole())),
  Behind: Type.Optional(
    About('Number of transactions that another server shows and it does not.', Whole()),
  ),
  BehindMs: Type.Optional(
    About('Time between the newest transaction of all servers and its own.', Whole()),
  ),
  LogMs: Type.Optional(
    About('Time of a read of the end of the log. Absent: the log cannot be reached.', Whole()),
  ),
  ClockSkewMs: Type.Optional(
    About("Its clock minus the leader's, or that of the server that answers.", Type.Integer()),
  ),
});
export type ServerHealth = Model<typeof ServerHealthSchema>;

export const ServersHealthSchema = Type.Object({
  Healthy: About('Whether a server leads and all servers are healthy.', Flag()),
  Leader: About('Id of the leader; empty: none is known.', Text()),
  LeaderSince: About('When its term began: Unix nanoseconds; 0: it is unknown.', Instant()),
  FailureTolerance: About(
    'Number of servers that may fail while another one can lead. Members of etcd are not counted.',
    Whole(),
  ),
  Servers: FullList(ServerHealthSchema),
});
export type ServersHealth = Model<typeof ServersHealthSchema>;
