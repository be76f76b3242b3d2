import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { type RosterError, refusal } from '../model/errors.ts';
import { longestMessageBytes, webSocketTransport } from '../model/node-stream/web-socket.ts';
import type { ServerLink } from '../server/network/link.ts';
import { bindingOf, isEncrypted, serversPath } from '../server/network/web-socket-link.ts';
import { problemAnswer } from './answers.ts';
import { pathOf } from './http-request.ts';
import type { Upgrade } from './http-server.ts';
import { hangUp, ownSocket } from './raw-answer.ts';
import { wantsWebSocket, webSockets } from './web-sockets.ts';

/** The other servers of the cluster. They connect to the port of the API. */
export interface ServersDoor {
  /** Takes a connection, whose other side has proven nothing yet. */
  readonly accept: (link: ServerLink) => void;
  /** Take connections of other machines without TLS too. */
  readonly allowsPlaintext: boolean;
  /** Whether an address belongs to this machine. */
  readonly isNear: (address: string) => boolean;
}

/**
 * The WebSockets opened by other servers of the cluster. They show no token and no header: they prove the
 * root key on the connection itself (`server/network/DESIGN.md`).
 */
export class ServersSockets {
  readonly #door: ServersDoor;
  readonly #open = new Set<WebSocket>();

  constructor(door: ServersDoor) {
    this.#door = door;
  }

  get upgrade(): Upgrade {
    const { accept, allowsPlaintext, isNear } = this.#door;
    const refuse = (_: IncomingMessage, socket: Socket, refused: RosterError): void =>
      hangUp(socket, problemAnswer(refused));
    const take = webSockets({ messageBytesMax: longestMessageBytes, refuse });
    return {
      isAsked: isOfServer,
      provesItself: isOfServer,
      take: (raw, socket, head) => {
        ownSocket(socket);
        if (!isEncrypted(socket) && !allowsPlaintext && !isNear(socket.remoteAddress ?? '')) {
          refuse(raw, socket, refusal('tls-required'));
          return;
        }
        take(raw, socket, head, (webSocket) => {
          this.#open.add(webSocket);
          webSocket.once('close', () => this.#open.delete(webSocket));
          accept({ socket: webSocketTransport(webSocket), binding: bindingOf(socket) });
        });
      },
    };
  }

  close(): void {
    for (const webSocket of this.#open) webSocket.terminate();
  }
}

/** Whether the request comes from a server, which is known by its proof and not by a certificate. */
const isOfServer = (raw: IncomingMessage): boolean =>
  wantsWebSocket(raw) && pathOf(raw.url ?? '') === serversPath;
