import type { StreamSocket } from './stream-connection.ts';

/**
 * Two ends of a connection inside this process, for tests, the simulator and `createAgent`. Messages arrive
 * in later turns, in order; `sent` lists the sent messages, for assertions.
 */
export interface SocketEnd extends StreamSocket {
  readonly sent: (string | Uint8Array)[];
}

export function socketPair(): readonly [SocketEnd, SocketEnd] {
  const left = new QueueSocket();
  const right = new QueueSocket();
  left.peer = right;
  right.peer = left;
  return [left, right];
}

class QueueSocket implements SocketEnd {
  peer: QueueSocket | undefined;
  readonly sent: (string | Uint8Array)[] = [];
  #onMessage: (message: string | Uint8Array) => void = () => {};
  #closed: (reason: string) => void = () => {};
  #pong: () => void = () => {};
  #isClosed = false;

  sendText(text: string): void {
    this.#send(text);
  }

  sendBinary(bytes: Uint8Array): void {
    this.#send(bytes);
  }

  onMessage(receive: (message: string | Uint8Array) => void): void {
    this.#onMessage = receive;
  }

  onClose(closed: (reason: string) => void): void {
    this.#closed = closed;
  }

  close(_code: number, reason: string): void {
    this.#end(reason);
    queueMicrotask(() => this.peer!.#end(reason));
  }

  terminate(): void {
    this.close(1006, 'terminated');
  }

  ping(): void {
    queueMicrotask(() => {
      if (this.peer !== undefined && !this.peer.#isClosed) this.#pong();
    });
  }

  onPong(run: () => void): void {
    this.#pong = run;
  }

  #send(message: string | Uint8Array): void {
    if (this.#isClosed) return;
    this.sent.push(message);
    queueMicrotask(() => {
      if (this.peer !== undefined && !this.peer.#isClosed) this.peer.#onMessage(message);
    });
  }

  #end(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#closed(reason);
  }
}
