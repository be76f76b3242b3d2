import { limits } from '../../model/limits.ts';
import { open, resourceAccess } from '../../model/permission/permission.ts';
import { Text, Type } from '../../model/schema.ts';
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
  readonly metrics: Metrics;
  /** The OpenAPI document, as JSON. */
  readonly openApi: () => string;
}

const health = { ok: Type.Boolean(), message: Text() };
/** Of the process, and once more under the name of the part of it that is asked for. */
const AgentHealthSchema = Type.Object({ ...health, server: Type.Object(health) });
const healthy = { ok: true, message: 'ok' };

/** What this process says of itself. */
export function agentRoutes(facts: AgentFacts): Route[] {
  return [
    readRoute({
      method: 'GET',
      path: '/v1/agent/health',
      noun: 'agent',
      summary: 'Whether this server answers and can write',
      answer: AgentHealthSchema,
      permission: () => open,
      handle: () => {
        const closed = facts.writesClosed();
        if (closed !== undefined) throw closedRefusal(closed);
        return { ...healthy, server: healthy };
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
