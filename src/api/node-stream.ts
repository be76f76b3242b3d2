import { WebSocketServer } from 'ws';
import type { Timers } from '../base/ports.ts';
import { RosterError, refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { StreamConnection } from '../model/node-stream/stream-connection.ts';
import { longestMessageBytes, webSocketTransport } from '../model/node-stream/web-socket.ts';
import type { Server } from '../server/server.ts';
import type { Request } from './http.ts';
import type { Upgrade } from './http-server.ts';
import { type Pipeline, problemAnswer } from './pipeline.ts';
import { rawAnswer } from './raw-answer.ts';

const path = /^\/v1\/node\/([0-9a-f-]{36})\/stream$/;

/**
 * Takes the one WebSocket that a node opens and keeps open (DESIGN §7). The token is checked
 * before the upgrade, so that a refusal is an ordinary problem.
 */
export function nodeStreamUpgrade(
  server: Server,
  pipeline: Pipeline,
  requestOf: (raw: Parameters<Upgrade>[0]) => Request,
): Upgrade {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: longestMessageBytes });
  return (raw, socket, head) => {
    try {
      const nodeId = authorize(pipeline, requestOf(raw));
      sockets.handleUpgrade(raw, socket, head, (webSocket) => {
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
      socket.end(rawAnswer(problemAnswer(refused)));
    }
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
