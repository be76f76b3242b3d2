import WebSocket from 'ws';
import { limits } from '../model/limits.ts';
import { longestMessageBytes, webSocketTransport } from '../model/node-stream/web-socket.ts';
import { type Client, createClient } from '../sdk/client.ts';
import { failoverTransport } from '../sdk/failover-transport.ts';
import { ServerChoice } from '../sdk/server-choice.ts';
import { type TlsTrust, tlsOptions } from '../sdk/tls-trust.ts';
import type { Transport } from '../sdk/transport.ts';
import { httpTransport } from '../sdk/transport-http.ts';
import { pinnedTo } from '../sdk/transport-names.ts';
import { type ServerApi, statusOf } from './server-api.ts';

export interface ServerConnection extends TlsTrust {
  /** Addresses for a `ServerChoice`, or a choice that others use too. */
  readonly servers: readonly string[] | ServerChoice;
}

/** All requests of a node may be repeated. */
export const nodeTransport = (choice: ServerChoice, trust: TlsTrust): Transport =>
  failoverTransport({
    choice,
    transportOf: ({ address, ip }) => httpTransport({ address, ip, ...trust }),
    isRepeatable: () => true,
  });

/** A node's servers, over their HTTP API. */
export function httpServerApi({ servers, ...trust }: ServerConnection): ServerApi {
  const choice =
    servers instanceof ServerChoice ? servers : new ServerChoice({ addresses: servers });
  const transport = nodeTransport(choice, trust);
  const clients = new Map<string, Client['nodeAgent']>();
  /** One client for each token: the introduction, later the node's own secret. */
  const as = (token: string): Client['nodeAgent'] => {
    let client = clients.get(token);
    if (client === undefined) {
      client = createClient({ address: choice.addresses, token, transport }).nodeAgent;
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
    assignments: async (nodeId, { index, waitMs }, token, signal) => {
      const answer = await as(token).assignments(nodeId, { index, waitMs, signal });
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
    snapshot: (allocId, token, signal) => as(token).snapshot(allocId, { signal, timeoutMs: 0 }),
    openStream: (nodeId, token, signal) =>
      choice.call(
        ({ address, ip }, left) => {
          const { url, headers } = as(token).stream(nodeId, address);
          // The stream moves with the choice: its own pings notice a dead server much later.
          return openWebSocket(url, { headers, trust, ip }, [signal, left]);
        },
        signal,
        (error) => statusOf(error) === 0 || statusOf(error) >= 500,
      ),
  };
}

function openWebSocket(
  url: string,
  {
    headers,
    trust,
    ip,
  }: {
    readonly headers: Record<string, string>;
    readonly trust: TlsTrust;
    readonly ip: string | undefined;
  },
  endedBy: readonly AbortSignal[],
) {
  const socket = new WebSocket(url, {
    headers,
    maxPayload: longestMessageBytes,
    handshakeTimeout: limits.stream.openTimeoutMs,
    perMessageDeflate: false,
    ...tlsOptions(trust),
    ...pinnedTo(ip),
  });
  return new Promise<ReturnType<typeof webSocketTransport>>((resolve, reject) => {
    const abort = () => socket.terminate();
    for (const signal of endedBy) signal.addEventListener('abort', abort, { once: true });
    if (endedBy.some(({ aborted }) => aborted)) abort();
    socket.once('open', () => resolve(webSocketTransport(socket)));
    socket.on('error', reject);
    socket.once('unexpected-response', (_request, { statusCode: status }) => {
      reject(Object.assign(new Error(`the stream was answered ${status}`), { status }));
      socket.terminate();
    });
    socket.once('close', () => {
      for (const signal of endedBy) signal.removeEventListener('abort', abort);
      reject(new Error('the stream was closed'));
    });
  });
}
