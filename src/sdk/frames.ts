import { bytesOfBase64, joined } from '../base/base64.ts';
import type { FileFrame } from '../model/allocation/file-info.ts';
import type { MonitorFrame } from '../model/monitor/monitor.ts';
import { ApiError, ConnectionError } from './errors.ts';
import { limits } from './limits.ts';

/** A piece of a growing file or log. */
export interface FilePiece {
  /** Path in the allocation's directory. */
  readonly file: string;
  /** The position of the data in the file. */
  readonly offset: number;
  readonly data: Uint8Array;
  /** An event before the data: see `FileFrame`. */
  readonly event: string | undefined;
}

const newline = 0x0a;
const decoder = new TextDecoder();

/** Parses lines of JSON into pieces. Heartbeats are left out. */
export async function* piecesIn(
  bytes: AsyncIterable<Uint8Array>,
  address: string,
): AsyncGenerator<FilePiece, void> {
  const malformed = (cause?: unknown): ConnectionError => {
    const sentence = `${address} sent something other than frames of a file. Is it an agent's address?`;
    return new ConnectionError(address, 'malformed-answer', sentence, cause);
  };
  let parts: Uint8Array[] = [];
  let waitingBytes = 0;
  for await (const chunk of bytes) {
    let rest = chunk;
    for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
      const line = decoder.decode(joined([...parts, rest.subarray(0, end)]));
      parts = [];
      waitingBytes = 0;
      rest = rest.subarray(end + 1);
      const piece = pieceOf(line, malformed);
      if (piece !== undefined) yield piece;
    }
    waitingBytes += rest.length;
    if (waitingBytes > limits.frameLineBytesMax) throw malformed();
    if (rest.length > 0) parts.push(rest);
  }
}

function pieceOf(line: string, malformed: (cause?: unknown) => Error): FilePiece | undefined {
  let frame: (FileFrame & Pick<MonitorFrame, 'Error'>) | null;
  try {
    frame = JSON.parse(line) as typeof frame;
  } catch (cause) {
    throw malformed(cause);
  }
  const ended = frame?.Error;
  // The stream had begun with a 200, and ended as a request without the permission.
  if (ended) throw new ApiError({ status: 403, code: ended.Code, detail: ended.Message });
  const { File: file, Offset: offset = 0, Data: data = '', FileEvent: event } = frame ?? {};
  if (file === undefined) return undefined;
  return { file, offset, data: bytesOfBase64(data), event };
}
