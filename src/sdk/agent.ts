import type { agentEndpoints } from '../contract/agent.ts';
import type { AnswerOf } from '../contract/endpoint.ts';
import type { serverHealthEndpoints } from '../contract/server-health.ts';
import { callsOf } from './calls.ts';
import type { CallOptions, Requester } from './requester.ts';

/** An agent's description of itself. Its fields depend on the agent's version. */
export type AgentSelf = Readonly<Record<string, unknown>>;

export type AgentHealth = AnswerOf<(typeof agentEndpoints)['health']>;

export type AgentApi = ReturnType<typeof agentOf>;

export function agentOf(requester: Requester) {
  const { read } = callsOf<typeof agentEndpoints>(requester);
  return {
    self: (options?: CallOptions) => read('GET /v1/agent/self', {}, options),
    health: (options?: CallOptions) => read('GET /v1/agent/health', {}, options),
  };
}

export type StatusApi = ReturnType<typeof statusOf>;

export function statusOf(requester: Requester) {
  const { read } = callsOf<typeof agentEndpoints | typeof serverHealthEndpoints>(requester);
  return {
    /** The address of the leader; `''`: none is known. */
    leader: (options?: CallOptions) => read('GET /v1/status/leader', {}, options),
    /** The servers of the cluster, as the server that is asked knows them. */
    servers: (options?: CallOptions) => read('GET /v1/servers', {}, options),
    /** The health of every server. */
    health: (options?: CallOptions) => read('GET /v1/servers/health', {}, options),
  };
}
