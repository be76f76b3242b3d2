import { Text, Type } from '../model/schema.ts';
import { endpoints } from './endpoint.ts';
import { nothing, resource } from './needs.ts';
import { text } from './query.ts';

const health = { ok: Type.Boolean(), message: Text() };
/** The health of the process as a server, and of each of its parts. */
const AgentHealthSchema = Type.Object({
  ...health,
  server: Type.Optional(Type.Object(health)),
  client: Type.Optional(Type.Object(health)),
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
      summary: "Read the agent's name, version, address and limits",
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
    metrics: {
      kind: 'stream',
      path: '/v1/metrics',
      isOfServer: true,
      summary: 'Read metrics, as JSON or for Prometheus',
      query: {
        format: text('`prometheus` for its text format.'),
      },
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
