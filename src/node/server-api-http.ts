import WebSocket from 'ws';
import { limits } from '../model/limits.ts';
import { longestMessageBytes, webSocketTransport } from '../model/node-stream/web-socket.ts';
import { type Client, createClient } from '../sdk/client.ts';
import { httpTransport } from '../sdk/transport-http.ts';
import type { ServerApi } from './server-api.ts';

/** A node's servers, over their HTTP API. */
export function httpServerApi(address: string): ServerApi {
  const transport = httpTransport({ address });
  const clients = new Map<string, Client>();
  /** One client a token: first the introduction, then the node's own secret. */
  const as = (token: string): Client['nodeAgent'] => {
    let client = clients.get(token);
    if (client === undefined) {
      client = createClient({ address, token, transport });
      clients.set(token, client);
    }
    return client.nodeAgent;
  };
  return {
    register: async ({ Node, SecretID }, token, signal) =>
      (await as(token).register(Node, SecretID, { signal })).value,
    heartbeat: async (nodeId, token, signal) =>
      (await as(token).heartbeat(nodeId, { signal })).value,
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
    openStream: (nodeId, token, signal) => {
      const { url, headers } = as(token).stream(nodeId);
      return openWebSocket(url, headers, signal);
    },
  };
}

function openWebSocket(url: string, headers: Record<string, string>, signal: AbortSignal) {
  const socket = new WebSocket(url, {
    headers,
    maxPayload: longestMessageBytes,
    handshakeTimeout: limits.stream.openTimeoutMs,
    perMessageDeflate: false,
  });
  return new Promise<ReturnType<typeof webSocketTransport>>((resolve, reject) => {
    const abort = () => socket.terminate();
    signal.addEventListener('abort', abort, { once: true });
    socket.once('open', () => resolve(webSocketTransport(socket)));
    socket.once('error', reject);
    socket.once('close', () => {
      signal.removeEventListener('abort', abort);
      reject(new Error('the stream was closed'));
    });
  });
}
