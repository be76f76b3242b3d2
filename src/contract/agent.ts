import { Choice, Flag, Text, Type, Whole } from '../model/schema.ts';
import { endpoints } from './endpoint.ts';
import { nothing, resource } from './needs.ts';
import { text } from './query.ts';

const health = { ok: Type.Boolean(), message: Text() };
/** The health of a log that several servers share. Without `Store`, what the store says of itself is unknown. */
const LogHealthSchema = Type.Object({
  ...health,
  /** Newest term of a leader that is known. */
  Term: Whole(),
  /** Since the log last answered. */
  LastContactMs: Type.Optional(Whole()),
  /** Since the leader renewed its lease; only on the leader. */
  LeaseAgeMs: Type.Optional(Whole()),
  Store: Type.Optional(
    Type.Object({
      Version: Text(),
      Bytes: Whole(),
      /** Without what a defragmentation would free. */
      BytesInUse: Whole(),
      QuotaBytes: Whole(),
      /** Whether new jobs are refused. */
      Full: Flag(),
    }),
  ),
});
/** The health of the process as a server, and of each of its parts. */
const AgentHealthSchema = Type.Object({
  ...health,
  server: Type.Optional(Type.Object(health)),
  client: Type.Optional(Type.Object(health)),
  log: Type.Optional(LogHealthSchema),
});

/** The fields after `Status` are those of servers that are alive. */
const ServerMemberSchema = Type.Object({
  ID: Text(),
  Address: Text(),
  Leader: Flag(),
  /** Whether it is the server that answers. */
  Self: Flag(),
  Status: Choice(['alive', 'unreachable'] as const, 'alive'),
  Version: Type.Optional(Text()),
  /** Index of the newest transaction that it shows. */
  Index: Type.Optional(Whole()),
  /** Transactions that the leader shows and it does not. */
  Behind: Type.Optional(Whole()),
  /** Since it last reported. */
  LastContactMs: Type.Optional(Whole()),
  /** Its clock minus that of the server that answers, the time of the report included. */
  ClockSkewMs: Type.Optional(Type.Integer()),
});

/** A target in the form of the HTTP service discovery of Prometheus. */
const MetricsTargetSchema = Type.Object({
  targets: Type.Array(Text()),
  labels: Type.Record(Type.String(), Type.String()),
});

export const agentEndpoints = endpoints(
  { group: 'agent', noun: 'agent', family: 'scheduler' },
  {
    health: {
      kind: 'read',
      path: '/v1/agent/health',
      isOfServer: true,
      summary: 'Check whether this server answers and can write',
      query: {
        type: text('`server` or `client`: only this part of the agent.'),
      },
      answer: AgentHealthSchema,
      permission: nothing,
    },
    self: {
      kind: 'read',
      path: '/v1/agent/self',
      isOfServer: true,
      summary:
        "Read the agent's name, version, address, configuration, limits and size of its state",
      permission: resource('agent', 'read'),
    },
    leader: {
      kind: 'read',
      path: '/v1/status/leader',
      isOfServer: true,
      summary: 'Read the address of the leader',
      answer: Text(),
      permission: nothing,
    },
    peers: {
      kind: 'read',
      path: '/v1/status/peers',
      isOfServer: true,
      summary: 'Read the addresses of all servers',
      answer: Type.Array(Text()),
      permission: nothing,
    },
    servers: {
      kind: 'read',
      path: '/v1/servers',
      isOfServer: true,
      summary: 'List the servers of the cluster, as this server knows them',
      answer: Type.Array(ServerMemberSchema),
      permission: resource('operator', 'read'),
    },
    metrics: {
      kind: 'stream',
      path: '/v1/metrics',
      isOfServer: true,
      summary: 'Read metrics, as JSON or for Prometheus',
      query: {
        format: text(
          '`prometheus`, `openmetrics` or `json`. By default as the header `Accept` asks, else JSON.',
        ),
      },
      permission: resource('agent', 'read'),
    },
    metricsTargets: {
      kind: 'read',
      path: '/v1/metrics/targets',
      summary: "List the nodes' metrics as targets of Prometheus (`http_sd_configs`)",
      answer: Type.Array(MetricsTargetSchema),
      permission: resource('agent', 'read'),
    },
    openApi: {
      kind: 'stream',
      path: '/v1/openapi.json',
      isOfServer: true,
      summary: 'Read this OpenAPI 3.1 document',
      permission: nothing,
    },
  },
);
