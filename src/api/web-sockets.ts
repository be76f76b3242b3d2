import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { type RosterError, refusal } from '../model/errors.ts';
import type { Upgrade } from './http-server.ts';

export interface WebSocketsOptions {
  /** Of one message. */
  readonly messageBytesMax: number;
  /** Takes over the socket of a failed handshake. */
  readonly refuse: (raw: IncomingMessage, socket: Socket, refused: RosterError) => void;
}

export type Accept = (
  raw: IncomingMessage,
  socket: Socket,
  head: Buffer,
  use: (webSocket: WebSocket) => void,
) => void;

export const wantsWebSocket = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';

/** Completes handshakes. */
export function webSockets({ messageBytesMax, refuse }: WebSocketsOptions): Accept {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: messageBytesMax });
  sockets.on('wsClientError', (error, socket, raw) => {
    refuse(raw, socket as Socket, refusal('malformed-request', { reason: `${error.message}.` }));
  });
  return (raw, socket, head, use) =>
    sockets.handleUpgrade(raw, socket, head, (webSocket) => {
      socket.setTimeout(0);
      use(webSocket);
    });
}

/** Each request goes to the first handler that claims it. */
export const firstOf = (...upgrades: readonly Upgrade[]): Upgrade => ({
  isAsked: (raw) => upgrades.some((one) => one.isAsked(raw)),
  provesItself: (raw) => upgrades.some((one) => one.provesItself?.(raw) === true),
  take: (raw, socket, head) =>
    upgrades.find((one) => one.isAsked(raw))?.take(raw, socket, head) ?? undefined,
});
