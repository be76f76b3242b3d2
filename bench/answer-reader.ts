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

  /** The answers that `chunk` completes: several only where requests are pipelined. */
  take(chunk: Buffer): readonly Answer[] {
    let bytes = this.#kept === undefined ? chunk : Buffer.concat([this.#kept, chunk]);
    const answers: Answer[] = [];
    while (bytes.length > 0) {
      const end = bytes.indexOf(headEnd);
      if (end < 0) break;
      const head = bytes.toString('latin1', 0, end);
      const start = end + headEnd.length;
      const stop = start + contentLength(head);
      if (bytes.length < stop) break;
      answers.push({ status: Number(head.slice(9, 12)), head, body: bytes.subarray(start, stop) });
      bytes = bytes.subarray(stop);
    }
    this.#kept = bytes.length > 0 ? bytes : undefined;
    return answers;
  }
}

function contentLength(head: string): number {
  const found = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (found === null) throw new Error(`an answer does not tell its length:\n${head}`);
  return Number(found[1]);
}
