import { noteReceived } from '../../base/received-bytes.ts';
import { limits } from '../limits.ts';
import type { StreamSocket } from './stream-connection.ts';

/** The part of a `ws` WebSocket that this layer uses, so that it does not need the package. */
export interface WebSocketLike {
  send(data: string | Uint8Array | TakenOver, sent?: (error?: Error) => void): void;
  ping(): void;
  close(code: number, reason: string): void;
  terminate(): void;
  on(event: 'message', run: (data: unknown, isBinary: boolean) => void): unknown;
  on(event: 'close', run: (code: number, reason: Uint8Array) => void): unknown;
  on(event: 'error', run: (error: Error) => void): unknown;
  on(event: 'pong', run: () => void): unknown;
  readonly readyState: number;
}

/** The package makes a Buffer over this memory, and masks the bytes there. It would copy a Buffer that it is given. */
interface TakenOver {
  valueOf(): ArrayBuffer;
}

/** The `maxPayload` of the WebSocket on both sides. */
export const longestMessageBytes =
  Math.max(limits.stream.frameBytesMax + 4, limits.stream.frameBytesMax * 4) + 1024;

const openState = 1;

/** A `ws` WebSocket as the transport of a `StreamConnection`, on the server and on the node. */
export function webSocketTransport(socket: WebSocketLike): StreamSocket {
  let lastError: string | undefined;
  socket.on('error', (error) => {
    lastError = error.message;
  });
  // The first messages may come with the opening itself, before anybody listens for them.
  const early: (string | Uint8Array)[] = [];
  let take = (message: string | Uint8Array): void => void early.push(message);
  socket.on('message', (data, isBinary) => {
    const bytes = toBytes(data);
    noteReceived(bytes.length);
    take(isBinary ? bytes : new TextDecoder().decode(bytes));
  });
  const whenOpen = (run: () => void): void => {
    if (socket.readyState === openState) run();
  };
  return {
    sendText: (text) => whenOpen(() => socket.send(text)),
    sendBinary: (bytes, sent) =>
      whenOpen(() => socket.send(takenOver(bytes), (error) => error ?? sent?.())),
    onMessage: (receive) => {
      take = receive;
      for (const message of early.splice(0)) receive(message);
    },
    onClose: (closed) =>
      socket.on('close', (code, reason) => {
        const text = new TextDecoder().decode(reason);
        closed(lastError ?? (text === '' ? `closed with code ${code}` : text));
      }),
    close: (code, reason) => socket.close(code, reason),
    terminate: () => socket.terminate(),
    ping: () => whenOpen(() => socket.ping()),
    onPong: (run) => socket.on('pong', run),
  };
}

const takenOver = (bytes: Uint8Array<ArrayBuffer>): Uint8Array | TakenOver =>
  bytes.length === bytes.buffer.byteLength ? { valueOf: () => bytes.buffer } : bytes;

function toBytes(data: unknown): Uint8Array {
  if (data instanceof Uint8Array) return data;
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (Array.isArray(data)) return Buffer.concat(data as Buffer[]);
  return new TextEncoder().encode(String(data));
}
