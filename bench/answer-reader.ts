/** A whole HTTP answer. */
export interface Answer {
  readonly status: number;
  /** The status line and the header lines, without the empty line. */
  readonly head: string;
  readonly body: Buffer;
}

const headEnd = '\r\n\r\n';

/**
 * Cuts the bytes of a connection into answers, which must have a length. It does as little work as
 * possible, since the load shares the machine with the measured server.
 */
export class AnswerReader {
  #kept: Buffer | undefined;

  /** The answer that `chunk` completes. One request is under way at a time, so it is the only one. */
  take(chunk: Buffer): Answer | undefined {
    const bytes = this.#kept === undefined ? chunk : Buffer.concat([this.#kept, chunk]);
    const end = bytes.indexOf(headEnd);
    if (end < 0) return this.#wait(bytes);
    const head = bytes.toString('latin1', 0, end);
    const start = end + headEnd.length;
    const length = contentLength(head);
    if (bytes.length < start + length) return this.#wait(bytes);
    if (bytes.length > start + length) throw new Error('more came than was asked for');
    this.#kept = undefined;
    return { status: Number(head.slice(9, 12)), head, body: bytes.subarray(start) };
  }

  #wait(bytes: Buffer): undefined {
    this.#kept = bytes;
  }
}

function contentLength(head: string): number {
  const found = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (found === null) throw new Error(`an answer does not tell its length:\n${head}`);
  return Number(found[1]);
}
