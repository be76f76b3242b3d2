import type { Socket } from 'node:net';
import type { StreamSocket } from '../../model/node-stream/stream-connection.ts';
import { longestMessageBytes } from '../../model/node-stream/web-socket.ts';

const textKind = 0;
const binaryKind = 1;
/** Not in limits: a byte for the kind, and four for the length. */
const headBytes = 5;

/**
 * Messages over a local socket, as the transport of a `StreamConnection`: a byte for the kind, four
 * bytes for the length, and the message. Both ends are on one machine, so there are no pings.
 */
export function socketMessages(socket: Socket): StreamSocket {
  let reason = 'the connection was closed';
  const send = (kind: number, payload: Uint8Array): void => {
    if (!socket.writable) return;
    const head = Buffer.alloc(headBytes);
    head[0] = kind;
    head.writeUInt32BE(payload.length, 1);
    socket.cork();
    socket.write(head);
    socket.write(payload);
    socket.uncork();
  };
  return {
    sendText: (text) => send(textKind, Buffer.from(text)),
    sendBinary: (bytes) => send(binaryKind, bytes),
    onMessage: (receive) => {
      socket.on(
        'data',
        messageReader(receive, () => socket.destroy()),
      );
    },
    onClose: (closed) => {
      if (socket.destroyed) closed(reason);
      else socket.once('close', () => closed(reason));
    },
    close: (_code, why) => {
      reason = why;
      socket.destroy();
    },
    terminate: () => socket.destroy(),
    ping: () => {},
    onPong: () => {},
  };
}

function messageReader(
  receive: (message: string | Uint8Array) => void,
  refuse: () => void,
): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let waitingBytes = 0;
  let neededBytes = headBytes;
  return (chunk) => {
    parts.push(chunk);
    waitingBytes += chunk.length;
    if (waitingBytes < neededBytes) return;
    let rest = parts.length === 1 ? chunk : Buffer.concat(parts);
    for (;;) {
      const length = rest.length < headBytes ? 0 : rest.readUInt32BE(1);
      if (length > longestMessageBytes) return refuse();
      neededBytes = headBytes + length;
      if (rest.length < neededBytes) break;
      const payload = rest.subarray(headBytes, neededBytes);
      receive(rest[0] === textKind ? payload.toString() : payload);
      rest = rest.subarray(neededBytes);
    }
    parts = rest.length === 0 ? [] : [rest];
    waitingBytes = rest.length;
  };
}
