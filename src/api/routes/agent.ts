import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { quote } from '../../model/path.ts';
import { open, resourceAccess } from '../../model/permission/permission.ts';
import { Text, Type } from '../../model/schema.ts';
import { nodes } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { closedRefusal } from '../answers.ts';
import type { Metrics } from '../metrics.ts';
import { type Route, readRoute, streamRoute } from '../route.ts';

export interface AgentFacts {
  readonly name: string;
  readonly version: string;
  readonly region: string;
  /** `host:port` of the HTTP API. */
  readonly address: () => string;
  /** Why nothing can be written, or `undefined`. */
  readonly writesClosed: () => Error | undefined;
  /** Id of the node in this process; `undefined` while there is none. */
  readonly node: () => string | undefined;
  readonly metrics: Metrics;
  /** The OpenAPI document, as JSON. */
  readonly openApi: () => string;
}

const health = { ok: Type.Boolean(), message: Text() };
/** Of the process as a server, and of each part of it by name. */
const AgentHealthSchema = Type.Object({
  ...health,
  server: Type.Optional(Type.Object(health)),
  client: Type.Optional(Type.Object(health)),
});
const healthy = { ok: true, message: 'ok' };
const agentParts = ['server', 'client'];

/** Of the node of this process, as its server knows it. */
function clientHealth(snapshot: Snapshot, id: string) {
  const status = snapshot.table(nodes).get(id)?.Status ?? 'not registered';
  if (status === 'ready' || status === 'initializing') return healthy;
  return { ok: false, message: `the node is ${status}` };
}

/** What this process says of itself. */
export function agentRoutes(facts: AgentFacts): Route[] {
  return [
    readRoute({
      method: 'GET',
      path: '/v1/agent/health',
      noun: 'agent',
      summary: 'Whether this server answers and can write',
      answer: AgentHealthSchema,
      query: {
        type: {
          kind: 'string',
          default: '',
          description: '`server` or `client`: only of that part of the agent.',
        },
      },
      permission: () => open,
      handle: ({ query: { type }, snapshot }) => {
        const id = facts.node();
        const client = id === undefined ? undefined : clientHealth(snapshot, id);
        if (type === 'client') {
          if (client?.ok) return { ...client, client };
          const node = client === undefined ? facts.name : `${facts.name} (${client.message})`;
          throw refusal('node-unreachable', { node });
        }
        if (type !== '' && type !== 'server') {
          const reason = `must be ${agentParts.join(' or ')}, got ${quote(type)}`;
          throw refusal('invalid-query', { parameter: 'type', reason });
        }
        const closed = facts.writesClosed();
        if (closed !== undefined) throw closedRefusal(closed);
        return { ...healthy, server: healthy, ...(type === '' && client && { client }) };
      },
    }),
    readRoute({
      method: 'GET',
      path: '/v1/agent/self',
      noun: 'agent',
      summary: 'The agent: name, version, address, limits',
      permission: () => resourceAccess('agent', 'read'),
      handle: () => ({
        Name: facts.name,
        Version: facts.version,
        Region: facts.region,
        Address: facts.address(),
        Limits: limits,
      }),
    }),
    readRoute({
      method: 'GET',
      path: '/v1/status/leader',
      noun: 'agent',
      summary: 'The address of the leader',
      answer: Text(),
      permission: () => open,
      handle: () => facts.address(),
    }),
    readRoute({
      method: 'GET',
      path: '/v1/status/peers',
      noun: 'agent',
      summary: 'The addresses of all servers',
      answer: Type.Array(Text()),
      permission: () => open,
      handle: () => [facts.address()],
    }),
    streamRoute({
      method: 'GET',
      path: '/v1/metrics',
      noun: 'agent',
      summary: 'Metrics, as JSON or for Prometheus',
      query: {
        format: { kind: 'string', default: '', description: '`prometheus` for its text form.' },
      },
      permission: () => resourceAccess('agent', 'read'),
      handle: async ({ query }) => {
        const prometheus = query.format === 'prometheus';
        const body = prometheus ? await facts.metrics.text() : await facts.metrics.json();
        const type = prometheus ? facts.metrics.textType : 'application/json';
        return { status: 200, headers: { 'content-type': type }, body };
      },
    }),
    streamRoute({
      method: 'GET',
      path: '/v1/openapi.json',
      noun: 'agent',
      summary: 'This API, as an OpenAPI 3.1 document',
      permission: () => open,
      handle: async () => ({
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: facts.openApi(),
      }),
    }),
  ];
}
