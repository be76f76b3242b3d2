import { limits } from '../model/limits.ts';
import type { StreamSocket } from '../model/node-stream/stream-connection.ts';
import { type Client, createClient } from '../sdk/client.ts';
import type { Transport } from '../sdk/transport.ts';
import type { ServerApi } from './server-api.ts';

type NodeClient = Client['nodeAgent'];

export interface SdkServerApiOptions {
  readonly addresses: readonly string[];
  readonly transport: Transport;
  readonly openStream: (
    nodeId: string,
    client: NodeClient,
    signal: AbortSignal,
  ) => Promise<StreamSocket>;
}

/** A node's servers, over the transport of a client. */
export function sdkServerApi({ addresses, transport, openStream }: SdkServerApiOptions): ServerApi {
  const clients = new Map<string, NodeClient>();
  /** One client for each token: the introduction, later the node's own secret. */
  const as = (token: string): NodeClient => {
    let client = clients.get(token);
    if (client === undefined) {
      client = createClient({ address: addresses, token, transport }).nodeAgent;
      clients.set(token, client);
    }
    return client;
  };
  const timeoutMs = limits.node.answerTimeoutMs;
  return {
    register: async ({ Node, SecretID }, token, signal) =>
      (await as(token).register(Node, SecretID, { signal })).value,
    heartbeat: async (nodeId, token, signal) =>
      (await as(token).heartbeat(nodeId, { signal, timeoutMs })).value,
    assignments: async (nodeId, query, token, signal) => {
      const answer = await as(token).assignments(nodeId, { ...query, signal });
      return { index: answer.index, assignments: answer.value };
    },
    reportStatus: async (nodeId, reports, token, signal) => {
      await as(token).reportStatus(nodeId, reports, { signal });
    },
    reportServices: async (nodeId, reports, token, signal) => {
      await as(token).reportServices(nodeId, reports, { signal });
    },
    identities: async (nodeId, requests, token, signal) =>
      (await as(token).identities(nodeId, requests, { signal })).value,
    traces: async (nodeId, ids, token, signal) =>
      (await as(token).traces(nodeId, ids, { signal, timeoutMs })).value.Traces,
    snapshot: (allocId, token, signal) => as(token).snapshot(allocId, { signal, timeoutMs: 0 }),
    openStream: (nodeId, token, signal) => openStream(nodeId, as(token), signal),
  };
}
