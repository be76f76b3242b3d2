import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { type RosterError, refusal } from '../model/errors.ts';
import {
  longestFrameBytes,
  peeringStreamPath,
  webSocketLink,
} from '../server/peering/web-socket-link.ts';
import type { Server } from '../server/server.ts';
import { problemAnswer } from './answers.ts';
import type { Request } from './http.ts';
import { pathOf } from './http-request.ts';
import type { Upgrade } from './http-server.ts';
import type { Observation } from './pipeline.ts';
import { hangUp, ownSocket } from './raw-answer.ts';
import { wantsWebSocket, webSockets } from './web-sockets.ts';

export interface PeeringStreamOptions {
  readonly server: Server;
  readonly requestOf: (raw: IncomingMessage) => Request;
  readonly observe: (observation: Observation) => void;
}

const switchingProtocols = 101;

/** The WebSockets opened by other clusters. */
export class PeeringSockets {
  readonly #options: PeeringStreamOptions;
  readonly #open = new Set<WebSocket>();

  constructor(options: PeeringStreamOptions) {
    this.#options = options;
  }

  /**
   * Accepts every caller. Peers authenticate on the stream itself, by the secret of their peering
   * instead of a token (`server/peering/acceptor.ts`).
   */
  get upgrade(): Upgrade {
    const { server, requestOf, observe } = this.#options;
    const over = (raw: IncomingMessage, status: number, refused?: RosterError): void => {
      const trail = refused === undefined ? {} : { code: refused.code };
      observe({ request: requestOf(raw), route: undefined, status, durationMs: 0, trail });
    };
    const refuse = (raw: IncomingMessage, socket: Socket, refused: RosterError): void => {
      over(raw, refused.status, refused);
      hangUp(socket, problemAnswer(refused));
    };
    const accept = webSockets({ messageBytesMax: longestFrameBytes, refuse });
    return {
      isAsked: (raw) => wantsWebSocket(raw) && pathOf(raw.url ?? '') === peeringStreamPath,
      take: (raw, socket, head) => {
        ownSocket(socket);
        const { takePeer } = server.servers;
        // The peer tries the other servers that it knows.
        if (!server.leads && takePeer === undefined) {
          return refuse(raw, socket, refusal('not-leader'));
        }
        accept(raw, socket, head, (webSocket) => {
          over(raw, switchingProtocols);
          this.#open.add(webSocket);
          webSocket.once('close', () => this.#open.delete(webSocket));
          const link = webSocketLink(webSocket);
          if (takePeer !== undefined) takePeer(link);
          else void server.peerings.accept(link);
        });
      },
    };
  }

  close(): void {
    for (const webSocket of this.#open) webSocket.terminate();
  }
}
