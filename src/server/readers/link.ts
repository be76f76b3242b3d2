import type { StreamSocket } from '../../model/node-stream/stream-connection.ts';

/** A message port of a thread; both sides have one. */
export interface ThreadPort {
  postMessage(message: unknown): void;
}

/** The end of the connection between the main thread and a reader, over a port that also carries other messages. */
export interface ThreadSocket extends StreamSocket {
  /** Takes a message if it is one of the connection. */
  take(message: unknown): boolean;
  /** The other thread has ended. */
  ended(): void;
}

/** Frames of streams are texts and bytes; all other messages of the port are objects of other kinds. */
export function threadSocket(port: ThreadPort): ThreadSocket {
  let receive: (message: string | Uint8Array) => void = () => {};
  let closed: (reason: string) => void = () => {};
  return {
    sendText: (text) => port.postMessage(text),
    sendBinary: (bytes) => port.postMessage(bytes),
    onMessage: (given) => {
      receive = given;
    },
    onClose: (given) => {
      closed = given;
    },
    // Threads end as a whole, and neither is silent before.
    close: () => {},
    terminate: () => {},
    ping: () => {},
    onPong: () => {},
    take: (message) => {
      if (typeof message !== 'string' && !(message instanceof Uint8Array)) return false;
      receive(message);
      return true;
    },
    ended: () => closed('the thread has ended'),
  };
}
