import { bytesOfBase64, joined } from '../base/base64.ts';
import type { agentEndpoints } from '../contract/agent.ts';
import type { agentReloadEndpoints } from '../contract/agent-reload.ts';
import type { diagnosisEndpoints } from '../contract/diagnosis.ts';
import type { AnswerOf } from '../contract/endpoint.ts';
import type { serverHealthEndpoints } from '../contract/server-health.ts';
import type { LogLevel } from '../model/monitor/log-level.ts';
import type { MonitorFrame } from '../model/monitor/monitor.ts';
import { callsOf } from './calls.ts';
import { ApiError, connectionError } from './errors.ts';
import type { CallOptions, Requester } from './requester.ts';

/** An agent's description of itself. Its fields depend on the agent's version. */
export type AgentSelf = Readonly<Record<string, unknown>>;

export type AgentHealth = AnswerOf<(typeof agentEndpoints)['health']>;

export type AgentReloaded = AnswerOf<(typeof agentReloadEndpoints)['reload']>;

export interface ServerOptions extends CallOptions {
  /** The server that answers: its id, its address, or `leader`; by default the server that is asked. */
  readonly server?: string | undefined;
}

export interface AgentOptions extends ServerOptions {
  /** The node whose agent answers, instead of a server. Has to be complete. */
  readonly node?: string | undefined;
}

export interface MonitorOptions extends AgentOptions {
  /** The least level; by default `info`. */
  readonly level?: LogLevel | undefined;
  /** Lines in JSON instead of text. */
  readonly isJson?: boolean | undefined;
}

export interface MetricsOptions extends ServerOptions {
  /** `prometheus`, `openmetrics` or `json`. */
  readonly format?: string;
}

export interface ProfileOptions extends AgentOptions {
  /** How long it is taken; by default a second. */
  readonly seconds?: number | undefined;
  /** `main`, or a reader such as `reader-1`; by default the main thread. */
  readonly thread?: string | undefined;
}

export type AgentApi = ReturnType<typeof agentOf>;

export function agentOf(requester: Requester, address: string) {
  const { read, write, stream } = callsOf<
    typeof agentEndpoints | typeof agentReloadEndpoints | typeof diagnosisEndpoints
  >(requester);
  const whom = ({ server, node }: AgentOptions) => ({
    server_id: server || undefined,
    node_id: node || undefined,
  });

  /** The lines as they come. A server never ends them without an error. */
  async function* monitor(options: MonitorOptions = {}): AsyncGenerator<Uint8Array, void> {
    const { level, isJson } = options;
    const query = { ...whom(options), log_level: level, log_json: isJson || undefined };
    const decoder = new TextDecoder();
    let rest = '';
    for await (const bytes of stream('GET /v1/agent/monitor', {}, options, query)) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield* linesIn(JSON.parse(line) as MonitorFrame);
    }
    throw connectionError(address, { code: 'UND_ERR_SOCKET' });
  }

  /** The profile in JSON. */
  async function profile(kind: 'cpu' | 'heap', options: ProfileOptions = {}): Promise<Uint8Array> {
    const { seconds, thread } = options;
    const query = { ...whom(options), seconds, thread };
    const paths = { cpu: 'GET /v1/agent/pprof/profile', heap: 'GET /v1/agent/pprof/heap' } as const;
    const parts: Uint8Array[] = [];
    for await (const part of stream(paths[kind], {}, options, query)) parts.push(part);
    return joined(parts);
  }

  return {
    /** Has the agent of the server, or of the node, read its configuration files again. Needs `agent:write`. */
    reload: ({ node, server, ...options }: AgentOptions = {}) =>
      write('PUT /v1/agent/reload', {}, options, { query: whom({ node, server }) }),
    self: ({ server, ...options }: ServerOptions = {}) =>
      read('GET /v1/agent/self', {}, options, { server_id: server || undefined }),
    health: (options?: CallOptions) => read('GET /v1/agent/health', {}, options),
    metrics: ({ server, ...options }: ServerOptions = {}) =>
      read('GET /v1/metrics', {}, options, { server_id: server || undefined }),
    /** The metrics of the server in this form, in pieces. */
    metricsText: ({ format = 'prometheus', server, ...options }: MetricsOptions = {}) =>
      stream('GET /v1/metrics', {}, options, { format, server_id: server || undefined }),
    monitor,
    profile,
  };
}

function* linesIn({ Data, Error: end }: MonitorFrame): Generator<Uint8Array, void> {
  if (Data !== undefined) yield bytesOfBase64(Data);
  if (end === undefined) return;
  // The stream had begun with a 200, and ended as a request without the permission.
  throw new ApiError({ status: 403, code: end.Code, detail: end.Message });
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
