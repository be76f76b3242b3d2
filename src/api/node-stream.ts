import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import type { Timers } from '../base/ports.ts';
import { RosterError, refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { StreamConnection } from '../model/node-stream/stream-connection.ts';
import { longestMessageBytes, webSocketTransport } from '../model/node-stream/web-socket.ts';
import type { Server } from '../server/server.ts';
import { problemAnswer } from './answers.ts';
import type { Request } from './http.ts';
import { pathOf, type Upgrade } from './http-server.ts';
import type { Pipeline } from './pipeline.ts';
import { hangUp, ownSocket } from './raw-answer.ts';

const path = /^\/v1\/node\/([0-9a-f-]{36})\/stream$/;

/**
 * Takes the one WebSocket that a node opens and keeps open (DESIGN §7). The token is checked
 * before the upgrade, so that a refusal is an ordinary problem. Any other offer to speak another
 * protocol is ignored, as RFC 9110 §7.8 allows: it is a request like every other.
 */
export function nodeStreamUpgrade(
  server: Server,
  pipeline: Pipeline,
  requestOf: (raw: IncomingMessage) => Request,
): Upgrade {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: longestMessageBytes });
  sockets.on('wsClientError', (error, socket) => {
    const refused = refusal('malformed-request', { reason: `${error.message}.` });
    hangUp(socket as Socket, problemAnswer(refused));
  });
  return {
    isAsked: ({ headers, url = '' }) =>
      headers.upgrade?.toLowerCase() === 'websocket' && path.test(pathOf(url)),
    take: (raw, socket, head) => {
      ownSocket(socket);
      try {
        const nodeId = authorize(pipeline, requestOf(raw));
        sockets.handleUpgrade(raw, socket, head, (webSocket) => {
          socket.setTimeout(0);
          const transport = webSocketTransport(webSocket);
          const connection = new StreamConnection({ socket: transport, side: 'server' });
          keepAlive(connection, transport, server.context.world.timers);
          server.streams.add(nodeId, connection);
          void connection.closed.then(() => server.streams.remove(nodeId, connection));
        });
      } catch (error) {
        const known = error instanceof RosterError;
        const refused = known ? error : refusal('internal-error', { request: 'upgrade' });
        if (!known) server.context.log.error({ error }, 'an upgrade failed');
        hangUp(socket, problemAnswer(refused));
      }
    },
  };
}

function authorize(pipeline: Pipeline, request: Request): string {
  const nodeId = path.exec(request.path)?.[1];
  if (nodeId === undefined) {
    throw refusal('route-not-found', { path: request.path.slice(0, limits.names.lengthMax) });
  }
  pipeline.authorizeUpgrade(request, { kind: 'own-node', nodeId });
  return nodeId;
}

/** Ends a connection whose other side no longer answers. */
function keepAlive(
  connection: StreamConnection,
  transport: ReturnType<typeof webSocketTransport>,
  timers: Timers,
): void {
  let answered = true;
  transport.onPong(() => {
    answered = true;
  });
  const beat = (): void => {
    if (connection.isClosed) return;
    if (!answered) {
      transport.terminate();
      return;
    }
    answered = false;
    transport.ping();
    timers.after(limits.stream.pongTimeoutMs, beat);
  };
  beat();
}
