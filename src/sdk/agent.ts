import type { Answer, CallOptions, Requester } from './requester.ts';

/** What an agent tells of itself; which fields there are is the agent's to say. */
export type AgentSelf = Readonly<Record<string, unknown>>;

export interface AgentHealth {
  readonly server?: { readonly ok: boolean; readonly message: string };
  readonly client?: { readonly ok: boolean; readonly message: string };
}

export interface AgentApi {
  self(options?: CallOptions): Promise<Answer<AgentSelf>>;
  health(options?: CallOptions): Promise<Answer<AgentHealth>>;
}

export interface StatusApi {
  /** Address of the leader; `''` when there is none. */
  leader(options?: CallOptions): Promise<Answer<string>>;
}

export const agentOf = (requester: Requester): AgentApi => ({
  self: (options) => requester.read('/v1/agent/self', options),
  health: (options) => requester.read('/v1/agent/health', options),
});

export const statusOf = (requester: Requester): StatusApi => ({
  leader: (options) => requester.read('/v1/status/leader', options),
});
