/** The transport of the client over the connection of the page. */

import { limits as streamLimits } from '../../../src/model/limits.ts';
import { ConnectionError } from '../../../src/sdk/errors.ts';
import type {
  Repeats,
  Transport,
  TransportAnswer,
  TransportRequest,
} from '../../../src/sdk/transport.ts';
import { limits } from './limits.ts';
import type { Asked, RequestListener, StreamSocket } from './stream-socket.ts';

export interface StreamTransportOptions {
  readonly socket: StreamSocket;
  /** For messages. */
  readonly address: string;
  readonly repeats: Repeats;
  readonly after: (delayMs: number, run: () => void) => () => void;
  readonly openSocket?: Transport['openSocket'];
}

export interface PageTransport extends Transport {
  /** @param unsent ends the request for as long as it waits for the connection, and not once it is sent */
  send(request: TransportRequest, unsent?: AbortSignal): Promise<TransportAnswer>;
}

export function streamTransport(options: StreamTransportOptions): PageTransport {
  const { socket, address, repeats, openSocket } = options;
  return {
    repeats,
    ...(openSocket !== undefined && { openSocket }),
    async send(request, unsent) {
      const { signal } = request;
      signal?.throwIfAborted();
      if (typeof request.body === 'object') {
        const sentence = 'Bytes are not sent over the connection of the page.';
        throw new ConnectionError(address, 'no-upload', sentence);
      }
      const isOpen = await socket.opened(limits.waitForOpenMs, signal ?? unsent);
      signal?.throwIfAborted();
      unsent?.throwIfAborted();
      if (!isOpen) {
        const sentence = `The server at ${address} cannot be reached at the moment.`;
        throw new ConnectionError(address, 'ECONNREFUSED', sentence);
      }
      return new Exchange(options, request).answer;
    },
    close: () => Promise.resolve(socket.close()),
  };
}

/** A request with its answer. */
class Exchange implements RequestListener {
  readonly answer: Promise<TransportAnswer>;
  readonly #socket: StreamSocket;
  readonly #address: string;
  readonly #isStream: boolean;
  readonly #id: number;
  readonly #parts: Uint8Array[] = [];
  readonly #leave: () => void;
  #resolveHead: (answer: TransportAnswer) => void = () => {};
  #rejectHead: (error: unknown) => void = () => {};
  #ended: { readonly error?: unknown } | undefined;
  #wake: () => void = () => {};
  #ungranted = 0;

  constructor({ socket, address, after }: StreamTransportOptions, request: TransportRequest) {
    this.#socket = socket;
    this.#address = address;
    const { method, path, headers, signal, headTimeoutMs } = request;
    const body = request.body as string | undefined;
    // A body without a limit of time is one that its reader paces.
    this.#isStream = method === 'GET' && request.bodyTimeoutMs === 0;
    this.answer = new Promise((resolve, reject) => {
      this.#resolveHead = resolve;
      this.#rejectHead = reject;
    });
    const abort = (): void => this.#failWith(signal?.reason);
    const late = (): void => {
      const sentence = `${address} took the request and did not answer in time. Try again.`;
      this.#failWith(new ConnectionError(address, 'UND_ERR_HEADERS_TIMEOUT', sentence));
    };
    const stop = headTimeoutMs > 0 ? after(headTimeoutMs, late) : () => {};
    void this.answer.then(stop, stop);
    signal?.addEventListener('abort', abort, { once: true });
    this.#leave = () => signal?.removeEventListener('abort', abort);
    const asked: Asked = this.#isStream
      ? { kind: 'stream', path, bytes: creditBytes }
      : { kind: 'call', method, path, headers, body };
    this.#id = socket.ask(asked, this);
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    this.#resolveHead({ status, headers, body: this.#body() });
  }

  part(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#wake();
  }

  over(): void {
    this.#ended ??= {};
    this.#leave();
    this.#wake();
  }

  lost(): void {
    const sentence = `The connection to ${this.#address} was lost before its answer was complete.`;
    this.#failWith(new ConnectionError(this.#address, 'ECONNRESET', sentence));
  }

  #failWith(error: unknown): void {
    this.#ended ??= { error };
    this.#rejectHead(error);
    this.#leave();
    this.#socket.end(this.#id);
    this.#wake();
  }

  async *#body(): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const part = this.#parts.shift();
        if (part !== undefined) {
          yield part;
          this.#grant(part.length);
        } else if (this.#ended === undefined) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        } else if ('error' in this.#ended) throw this.#ended.error;
        else return;
      }
    } finally {
      this.#leave();
      this.#socket.end(this.#id);
    }
  }

  /** Grants what was read, not each part of it alone. */
  #grant(bytes: number): void {
    if (!this.#isStream) return;
    this.#ungranted += bytes;
    if (this.#ungranted * 2 < creditBytes) return;
    this.#socket.grant(this.#id, this.#ungranted);
    this.#ungranted = 0;
  }
}

const { creditBytes } = streamLimits.uiStream;
