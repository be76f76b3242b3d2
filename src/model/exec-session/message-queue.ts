import { limits } from '../limits.ts';
import type { WebSocketLike } from '../node-stream/web-socket.ts';

/** The part of a `ws` WebSocket that a reader needs who may be slower than the sender. */
export interface PausableWebSocket extends WebSocketLike {
  /** `done` is called when the socket has taken the data, or never will. */
  send(data: string | Uint8Array, done?: (error?: Error) => void): void;
  pause(): void;
  resume(): void;
}

/**
 * Text messages of a WebSocket, for a single reader at its own pace. Create it before the socket is open, or
 * as it opens: the first message may come with the opening itself. While `limits.exec.queuedBytesMax` wait,
 * the socket is not read, so the sender is held up and memory is bounded.
 */
export class MessageQueue implements AsyncIterable<string> {
  /** Resolves when the socket is closed, for whatever reason. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;

  readonly #socket: PausableWebSocket;
  readonly #messages: string[] = [];
  #waitingBytes = 0;
  #isOver = false;
  #isPaused = false;
  #wake: () => void = () => {};

  constructor(socket: PausableWebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => this.#queueMessage(String(data)));
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        this.#isOver = true;
        this.#wake();
        resolve({ code, reason: new TextDecoder().decode(reason) });
      });
    });
  }

  /** Whether the queue holds the other side up. Silence of the other side means nothing then. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** The next message; `undefined` when the socket is closed and all messages were read. */
  async next(): Promise<string | undefined> {
    while (this.#messages.length === 0) {
      if (this.#isOver) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const message = this.#messages.shift()!;
    this.#waitingBytes -= message.length;
    if (this.#isPaused && this.#waitingBytes * 2 < limits.exec.queuedBytesMax) {
      this.#isPaused = false;
      this.#socket.resume();
    }
    return message;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<string, void> {
    for (let next = await this.next(); next !== undefined; next = await this.next()) yield next;
  }

  #queueMessage(message: string): void {
    this.#messages.push(message);
    this.#waitingBytes += message.length;
    if (!this.#isPaused && this.#waitingBytes >= limits.exec.queuedBytesMax) {
      this.#isPaused = true;
      this.#socket.pause();
    }
    this.#wake();
  }
}
