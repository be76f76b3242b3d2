import type { Timers } from '../../base/ports.ts';
import type { StreamSocket } from '../../model/node-stream/stream-connection.ts';

/** The two ends of a connection within a process. Messages arrive in order, and before the close. */
export function linkedSockets(timers: Timers): readonly [StreamSocket, StreamSocket] {
  const ends: readonly [End, End] = [
    new End(timers, () => ends[1]),
    new End(timers, () => ends[0]),
  ];
  return ends;
}

class End implements StreamSocket {
  readonly #timers: Timers;
  readonly #other: () => End;
  #isClosing = false;
  #onReceived: (message: string | Uint8Array) => void = () => {};
  #closed: (reason: string) => void = () => {};
  #pong: () => void = () => {};

  constructor(timers: Timers, other: () => End) {
    this.#timers = timers;
    this.#other = other;
  }

  sendText(text: string): void {
    this.#send(text);
  }

  sendBinary(bytes: Uint8Array): void {
    this.#send(bytes);
  }

  onMessage(receive: (message: string | Uint8Array) => void): void {
    this.#onReceived = receive;
  }

  onClose(closed: (reason: string) => void): void {
    this.#closed = closed;
  }

  close(_code: number, reason: string): void {
    this.#close(reason);
    this.#other().#close(reason);
  }

  terminate(): void {
    this.close(1006, 'the connection was broken');
  }

  ping(): void {
    this.#timers.soon(() => this.#pong());
  }

  onPong(run: () => void): void {
    this.#pong = run;
  }

  #send(message: string | Uint8Array): void {
    if (!this.#isClosing) this.#timers.soon(() => this.#other().#onReceived(message));
  }

  #close(reason: string): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#timers.soon(() => this.#closed(reason));
  }
}
