import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { limits } from '../../model/limits.ts';

/** A source of output: any `Readable`, or a `PipeReader`. */
export interface ByteSource {
  /** The bytes are valid only during the call. */
  on(event: 'data', take: (bytes: Buffer) => void): unknown;
  on(event: 'end' | 'close' | 'error', ended: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
  destroy(): unknown;
}

/** Shared by all pipes, as bytes are used up before the next read. */
let memory: Buffer | undefined;

/** Reads a pipe into memory that all pipes share. Nothing is read before `resume`. */
export class PipeReader extends EventEmitter implements ByteSource {
  readonly #socket: Socket;

  /** The descriptor is closed when the pipe has ended or is destroyed. */
  constructor(fd: number) {
    super();
    memory ??= Buffer.allocUnsafeSlow(limits.supervisor.pipeBufferBytes);
    const callback = (length: number, buffer: Uint8Array): true => {
      this.emit('data', buffer.subarray(0, length));
      return true;
    };
    this.#socket = new Socket({
      fd,
      readable: true,
      writable: false,
      onread: { buffer: memory, callback },
    });
    this.#socket.pause();
    for (const event of ['end', 'close'] as const) {
      this.#socket.on(event, () => this.emit(event));
    }
    // `close` follows, which is enough for listeners.
    this.#socket.on('error', () => {});
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
