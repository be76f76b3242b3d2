import WebSocket from 'ws';
import { limits } from '../model/limits.ts';
import { longestMessageBytes, webSocketTransport } from '../model/node-stream/web-socket.ts';
import { type Client, createClient } from '../sdk/client.ts';
import { type TlsTrust, tlsOptions } from '../sdk/tls-trust.ts';
import { httpTransport } from '../sdk/transport-http.ts';
import { failoverTransport } from './failover-transport.ts';
import type { ServerApi } from './server-api.ts';
import { ServerChoice } from './server-choice.ts';

export interface ServerConnection extends TlsTrust {
  /** Addresses for a `ServerChoice`, or a choice that others use too. */
  readonly servers: readonly string[] | ServerChoice;
}

/** A node's servers, over their HTTP API. */
export function httpServerApi({ servers, ...trust }: ServerConnection): ServerApi {
  const choice = servers instanceof ServerChoice ? servers : new ServerChoice(servers);
  const transport = failoverTransport(choice, (address) => httpTransport({ address, ...trust }));
  const clients = new Map<string, Client['nodeAgent']>();
  /** One client for each token (the introduction, later the node's own secret) and address. */
  const as = (token: string, address = choice.addresses[0]!): Client['nodeAgent'] => {
    const key = `${address} ${token}`;
    let client = clients.get(key);
    if (client === undefined) {
      client = createClient({ address, token, transport }).nodeAgent;
      clients.set(key, client);
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
      choice.call((address, left) => {
        const { url, headers } = as(token, address).stream(nodeId);
        // The stream moves with the choice: its own pings notice a dead server much later.
        return openWebSocket(url, { headers, trust }, [signal, left]);
      }, signal),
  };
}

function openWebSocket(
  url: string,
  { headers, trust }: { readonly headers: Record<string, string>; readonly trust: TlsTrust },
  endedBy: readonly AbortSignal[],
) {
  const socket = new WebSocket(url, {
    headers,
    maxPayload: longestMessageBytes,
    handshakeTimeout: limits.stream.openTimeoutMs,
    perMessageDeflate: false,
    ...tlsOptions(trust),
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
