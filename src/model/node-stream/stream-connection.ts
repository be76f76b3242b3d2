import { limits } from '../limits.ts';
import { ByteStream, StreamFault } from './byte-stream.ts';
import {
  type ControlFrame,
  decodeControl,
  decodeData,
  encodeControl,
  encodeData,
  MalformedFrame,
} from './frames.ts';
import { SpareFrames } from './spare-frames.ts';

/** The transport: whole messages, in order. A WebSocket on both sides, a pair of queues in tests. */
export interface StreamSocket {
  sendText(text: string): void;
  /**
   * Takes over the bytes, and may change them. A transport that does not keep them calls `sent` once they may be used
   * again.
   */
  sendBinary(bytes: Uint8Array<ArrayBuffer>, sent?: () => void): void;
  /** The receiver may keep the received bytes. */
  onMessage(receive: (message: string | Uint8Array) => void): void;
  /** Called once, whatever ended the socket. */
  onClose(closed: (reason: string) => void): void;
  /** Closes with a WebSocket close code. */
  close(code: number, reason: string): void;
  /** Breaks the connection to a peer that no longer answers. */
  terminate(): void;
  ping(): void;
  onPong(run: () => void): void;
}

export type StreamHandler = (
  stream: ByteStream,
  params: Readonly<Record<string, unknown>>,
) => Promise<void>;

export interface StreamConnectionOptions {
  readonly socket: StreamSocket;
  /** The server opens odd ids, the node even ones. */
  readonly side: 'server' | 'node';
  /** Called with errors of handlers other than {@link StreamFault}, which are bugs. */
  readonly onHandlerError?: (kind: string, error: unknown) => void;
  /** The greatest number of streams that each side may have open; the default is that of a node. */
  readonly streamsMax?: number;
}

/** The part of a connection that opens streams. */
export type StreamOpener = Pick<StreamConnection, 'open'>;

/** WebSocket close code for a peer that breaks the protocol. */
const protocolError = 1002;

/**
 * All streams of a connection between a node and a server; both sides use this class.
 *
 * Invariants
 *
 *  C1. The ids of each side rise; an id is never used twice.
 *  C2. A frame for an ended stream is dropped: it crossed the end on its way.
 *  C3. A frame for an id that never existed, or any malformed frame, closes the connection.
 *  C4. When the connection closes, every stream ends.
 */
export class StreamConnection {
  /** Resolves with the reason when the connection is closed. */
  readonly closed: Promise<string>;

  readonly #socket: StreamSocket;
  readonly #options: StreamConnectionOptions;
  readonly #streams = new Map<number, ByteStream>();
  readonly #handlers = new Map<string, StreamHandler>();
  readonly #streamsMax: number;
  readonly #spareFrames = new SpareFrames();
  #accepted = 0;
  #lastOwnId: number;
  #lastPeerId = 0;
  #closedReason: string | undefined;
  #resolveClosed: (reason: string) => void = () => {};

  constructor(options: StreamConnectionOptions) {
    this.#options = options;
    this.#socket = options.socket;
    this.#streamsMax = options.streamsMax ?? limits.stream.perNodeMax;
    this.#lastOwnId = options.side === 'server' ? -1 : 0;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    options.socket.onMessage((message) => this.#receiveFrame(message));
    options.socket.onClose((reason) => this.#onClosed(reason));
  }

  get isClosed(): boolean {
    return this.#closedReason !== undefined;
  }

  get openStreams(): number {
    return this.#streams.size;
  }

  /** Gives streams of `kind` that the other side opens to `handler`. */
  accept(kind: string, handler: StreamHandler): void {
    this.#handlers.set(kind, handler);
  }

  /**
   * Opens a stream. Iterate it for its bytes; its errors are {@link StreamFault}. `creditBytes` bounds the
   * bytes that are under way or unread.
   */
  open(
    kind: string,
    params: Readonly<Record<string, unknown>>,
    creditBytes: number = limits.stream.creditBytes,
  ): ByteStream {
    if (this.#closedReason !== undefined) throw disconnected(this.#closedReason);
    if (this.#streams.size - this.#accepted >= this.#streamsMax) throw tooMany(this.#streamsMax);
    this.#lastOwnId += 2;
    const id = this.#lastOwnId;
    const stream = this.#addStream({ id, kind, opener: true, windowBytes: creditBytes, credit: 0 });
    this.#control({ type: 'open', id, kind, params, creditBytes });
    return stream;
  }

  close(code: number, reason: string): void {
    if (this.#closedReason !== undefined) return;
    this.#socket.close(code, reason.slice(0, 120));
    this.#onClosed(reason);
  }

  #receiveFrame(message: string | Uint8Array): void {
    if (this.#closedReason !== undefined) return;
    try {
      if (typeof message === 'string') this.#receiveControl(decodeControl(message));
      else this.#receiveData(message);
    } catch (error) {
      if (!(error instanceof MalformedFrame)) throw error;
      this.close(protocolError, error.message);
    }
  }

  #receiveControl(frame: ControlFrame): void {
    if (frame.type === 'open') this.#receiveOpen(frame);
    else this.#streamWith(frame.id)?.receiveControl(frame);
  }

  #receiveData(bytes: Uint8Array): void {
    const { id, payload } = decodeData(bytes);
    this.#streamWith(id)?.receiveData(payload);
  }

  #streamWith(id: number): ByteStream | undefined {
    const last = this.#isOwn(id) ? this.#lastOwnId : this.#lastPeerId;
    if (id > last) throw new MalformedFrame('a frame for a stream that was never opened');
    return this.#streams.get(id);
  }

  #isOwn(id: number): boolean {
    return (id % 2 === 1) === (this.#options.side === 'server');
  }

  #receiveOpen(frame: Extract<ControlFrame, { type: 'open' }>): void {
    const { id, kind } = frame;
    if (this.#isOwn(id) || id <= this.#lastPeerId) {
      throw new MalformedFrame('an open frame has an id that is not its sender’s next');
    }
    this.#lastPeerId = id;
    const handler = this.#handlers.get(kind);
    const full = this.#accepted >= this.#streamsMax;
    if (full || handler === undefined) {
      this.#control({
        type: 'error',
        id,
        ...fieldsOf(full ? tooMany(this.#streamsMax) : unknownKind(kind)),
      });
      return;
    }
    const windowBytes = limits.stream.creditBytes;
    const stream = this.#addStream({
      id,
      kind,
      opener: false,
      windowBytes,
      credit: frame.creditBytes,
    });
    void this.#handle(stream, handler, frame.params);
  }

  async #handle(
    stream: ByteStream,
    handler: StreamHandler,
    params: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    try {
      await handler(stream, params);
      stream.end();
    } catch (error) {
      if (!(error instanceof StreamFault)) this.#options.onHandlerError?.(stream.kind, error);
      stream.fail(error instanceof StreamFault ? error : internal(stream.kind));
    }
  }

  #addStream(shape: {
    readonly id: number;
    readonly kind: string;
    readonly opener: boolean;
    readonly windowBytes: number;
    readonly credit: number;
  }): ByteStream {
    const { id, kind, opener, windowBytes, credit } = shape;
    const hub = {
      control: (frame: ControlFrame) => this.#control(frame),
      data: (to: number, payload: Uint8Array) => this.#data(to, payload),
      over: (which: number) => {
        if (this.#streams.delete(which) && !opener) this.#accepted--;
        if (this.#streams.size === 0) this.#spareFrames.release();
      },
    };
    const stream = new ByteStream({ id, kind, opener, hub, windowBytes, sendCreditBytes: credit });
    this.#streams.set(id, stream);
    if (!opener) this.#accepted++;
    return stream;
  }

  #control(frame: ControlFrame): void {
    if (this.#closedReason === undefined) this.#socket.sendText(encodeControl(frame));
  }

  #data(id: number, payload: Uint8Array): void {
    if (this.#closedReason !== undefined) return;
    const frame = { id, payload };
    if (payload.length < limits.stream.sentFrameBytes) {
      this.#socket.sendBinary(encodeData(frame));
      return;
    }
    const memory = this.#spareFrames.take();
    this.#socket.sendBinary(encodeData(frame, memory), () => {
      if (this.#streams.size > 0) this.#spareFrames.give(memory);
    });
  }

  #onClosed(reason: string): void {
    if (this.#closedReason !== undefined) return;
    this.#closedReason = reason;
    for (const stream of [...this.#streams.values()]) stream.disconnect(disconnected(reason));
    this.#resolveClosed(reason);
  }
}

const fieldsOf = ({ status, code, message }: StreamFault) => ({ status, code, message });

const disconnected = (reason: string): StreamFault =>
  new StreamFault({
    status: 503,
    code: 'node-disconnected',
    message: `the connection to the node was lost: ${reason}`,
  });

const tooMany = (streamsMax: number): StreamFault =>
  new StreamFault({
    status: 429,
    code: 'too-many-streams',
    message: `more than ${streamsMax} streams are open`,
  });

const unknownKind = (kind: string): StreamFault =>
  new StreamFault({
    status: 404,
    code: 'unknown-stream-kind',
    message: `streams of the kind "${kind.slice(0, 64)}" are not known here`,
  });

const internal = (kind: string): StreamFault =>
  new StreamFault({
    status: 500,
    code: 'internal',
    message: `the ${kind} stream failed unexpectedly`,
  });
