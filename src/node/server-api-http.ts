import WebSocket from 'ws';
import { limits } from '../model/limits.ts';
import { longestMessageBytes, webSocketTransport } from '../model/node-stream/web-socket.ts';
import { failoverTransport } from '../sdk/failover-transport.ts';
import { ServerChoice } from '../sdk/server-choice.ts';
import { type TlsTrust, tlsOptions } from '../sdk/tls-trust.ts';
import type { Transport } from '../sdk/transport.ts';
import { httpTransport } from '../sdk/transport-http.ts';
import { pinnedTo } from '../sdk/transport-names.ts';
import { type ServerApi, statusOf } from './server-api.ts';
import { sdkServerApi } from './server-api-sdk.ts';

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
  return sdkServerApi({
    addresses: choice.addresses,
    transport,
    openStream: (nodeId, client, signal) =>
      choice.call(
        ({ address, ip }, left) => {
          const { url, headers } = client.stream(nodeId, address);
          // The stream moves with the choice: its own pings notice a dead server much later.
          return openWebSocket(url, { headers, trust, ip }, [signal, left]);
        },
        signal,
        (error) => statusOf(error) === 0 || statusOf(error) >= 500,
      ),
  });
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
    socket.once('unexpected-response', (_request, { statusCode: status, headers }) => {
      const told = { status, retryAfterSeconds: Number(headers['retry-after'] ?? 0) };
      reject(Object.assign(new Error(`the stream was answered ${status}`), told));
      socket.terminate();
    });
    socket.once('close', () => {
      for (const signal of endedBy) signal.removeEventListener('abort', abort);
      reject(new Error('the stream was closed'));
    });
  });
}
