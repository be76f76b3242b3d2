import { Text, Type } from '../model/schema.ts';
import { endpoints } from './endpoint.ts';
import { nothing, resource } from './needs.ts';

const health = { ok: Type.Boolean(), message: Text() };
/** Of the process as a server, and of each part of it by name. */
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
      methods: ['GET'],
      path: '/v1/agent/health',
      summary: 'Whether this server answers and can write',
      query: {
        type: {
          kind: 'string',
          default: '',
          description: '`server` or `client`: only of that part of the agent.',
        },
      },
      answer: AgentHealthSchema,
      permission: nothing,
    },
    self: {
      kind: 'read',
      methods: ['GET'],
      path: '/v1/agent/self',
      summary: 'The agent: name, version, address, limits',
      permission: resource('agent', 'read'),
    },
    leader: {
      kind: 'read',
      methods: ['GET'],
      path: '/v1/status/leader',
      summary: 'The address of the leader',
      answer: Text(),
      permission: nothing,
    },
    peers: {
      kind: 'read',
      methods: ['GET'],
      path: '/v1/status/peers',
      summary: 'The addresses of all servers',
      answer: Type.Array(Text()),
      permission: nothing,
    },
    metrics: {
      kind: 'stream',
      methods: ['GET'],
      path: '/v1/metrics',
      summary: 'Metrics, as JSON or for Prometheus',
      query: {
        format: { kind: 'string', default: '', description: '`prometheus` for its text form.' },
      },
      permission: resource('agent', 'read'),
    },
    openApi: {
      kind: 'stream',
      methods: ['GET'],
      path: '/v1/openapi.json',
      summary: 'This API, as an OpenAPI 3.1 document',
      permission: nothing,
    },
  },
);
