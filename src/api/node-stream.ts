import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Timers } from '../base/ports.ts';
import { RosterError, refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { StreamConnection } from '../model/node-stream/stream-connection.ts';
import { longestMessageBytes, webSocketTransport } from '../model/node-stream/web-socket.ts';
import type { Server } from '../server/server.ts';
import { problemAnswer } from './answers.ts';
import type { Request } from './http.ts';
import { pathOf } from './http-request.ts';
import type { Upgrade } from './http-server.ts';
import type { Observation, Pipeline } from './pipeline.ts';
import { hangUp, ownSocket } from './raw-answer.ts';
import type { Trail } from './trail.ts';
import { wantsWebSocket, webSockets } from './web-sockets.ts';

const path = /^\/v1\/node\/([0-9a-f-]{36})\/stream$/;

export interface NodeStreamOptions {
  readonly server: Server;
  readonly pipeline: Pipeline;
  readonly requestOf: (raw: IncomingMessage) => Request;
  /** Upgrades count as requests in metrics and audit log. */
  readonly observe: (observation: Observation) => void;
}

interface Offer {
  readonly request: Request;
  readonly startMs: number;
  readonly trail: Trail;
}

/**
 * Accepts the WebSocket that each node keeps open (docs/behaviour/nodes.md#the-nodes-stream). The
 * token is checked before the upgrade, so that a refusal is an ordinary problem. Offers of other
 * protocols are ignored, as RFC 9110 §7.8 allows.
 */
export function nodeStreamUpgrade(options: NodeStreamOptions): Upgrade {
  const { server, pipeline, requestOf, observe } = options;
  const { log, world } = server.context;
  const offers = new WeakMap<IncomingMessage, Offer>();
  const over = ({ request, startMs, trail }: Offer, status: number) => {
    const durationMs = world.clock.monotonicMs() - startMs;
    observe({ request, route: undefined, status, durationMs, trail });
  };
  const refuse = (raw: IncomingMessage, socket: Socket, refused: RosterError) => {
    const offer = offers.get(raw);
    if (offer !== undefined) {
      offer.trail.code = refused.code;
      over(offer, refused.status);
    }
    hangUp(socket, problemAnswer(refused));
  };
  const accept = webSockets({ messageBytesMax: longestMessageBytes, refuse });
  return {
    isAsked: (raw) => wantsWebSocket(raw) && path.test(pathOf(raw.url ?? '')),
    take: (raw, socket, head) => {
      ownSocket(socket);
      const startMs = world.clock.monotonicMs();
      const offer: Offer = { request: requestOf(raw), startMs, trail: {} };
      offers.set(raw, offer);
      const connect = () => {
        const nodeId = authorize(pipeline, offer);
        accept(raw, socket, head, (webSocket) => {
          over(offer, switchingProtocols);
          const transport = webSocketTransport(webSocket);
          const connection = new StreamConnection({ socket: transport, side: 'server' });
          keepAlive(connection, transport, world.timers);
          server.streams.add(nodeId, connection);
          void connection.closed.then(() => server.streams.remove(nodeId, connection));
        });
      };
      const fail = (error: unknown) => {
        const known = error instanceof RosterError;
        if (!known) log.error({ error }, 'an upgrade failed');
        refuse(raw, socket, known ? error : refusal('internal-error', { request: 'upgrade' }));
      };
      // Another server may have registered the node just now.
      const ready = pipeline.ready();
      if (ready !== undefined) return void ready.then(connect).catch(fail);
      try {
        connect();
      } catch (error) {
        fail(error);
      }
    },
  };
}

const switchingProtocols = 101;

function authorize(pipeline: Pipeline, { request, trail }: Offer): string {
  const nodeId = path.exec(request.path)?.[1];
  if (nodeId === undefined) {
    throw refusal('route-not-found', { path: request.path.slice(0, limits.names.lengthMax) });
  }
  pipeline.authorizeUpgrade(request, { kind: 'own-node', nodeId }, trail);
  return nodeId;
}

/** Closes the connection when the node does not answer a ping. */
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
