import { limits } from '../limits.ts';

/** The id of the stream, and its bytes. */
const longestFrameBytes = 4 + limits.stream.sentFrameBytes;

/**
 * The memory of the largest data frames of a connection, which are sent in it again and again. With memory of its own for
 * each frame, a stream of many megabytes a second leaves garbage faster than the collector takes it away.
 */
export class SpareFrames {
  readonly #spare: Uint8Array<ArrayBuffer>[] = [];

  /** Memory with any content. */
  take(): Uint8Array<ArrayBuffer> {
    return this.#spare.pop() ?? new Uint8Array(longestFrameBytes);
  }

  /** To be called when the frame has been sent. */
  give(memory: Uint8Array<ArrayBuffer>): void {
    if (this.#spare.length < limits.stream.spareFramesMax) this.#spare.push(memory);
  }

  /** Keeps nothing while there is nothing to send. */
  release(): void {
    this.#spare.length = 0;
  }
}
