import type { FileFrame } from '../model/allocation/file-info.ts';
import { ConnectionError } from './errors.ts';

/** A piece of a file or of a log that is read as it grows. */
export interface FilePiece {
  /** Path in the allocation's directory. */
  readonly file: string;
  /** Where in the file the data begins. */
  readonly offset: number;
  readonly data: Uint8Array;
  /** What happened before the data: see `FileFrame`. */
  readonly event: string | undefined;
}

/** Frames are 64 KiB of data at most, which base64 makes larger. */
const longestLineBytes = 1024 * 1024;
const newline = 0x0a;

/** Pieces out of lines of JSON; lines that only say that nothing is new are left out. */
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
      const line = Buffer.concat([...parts, rest.subarray(0, end)]).toString();
      parts = [];
      waitingBytes = 0;
      rest = rest.subarray(end + 1);
      const piece = pieceOf(line, malformed);
      if (piece !== undefined) yield piece;
    }
    waitingBytes += rest.length;
    if (waitingBytes > longestLineBytes) throw malformed();
    if (rest.length > 0) parts.push(rest);
  }
}

function pieceOf(line: string, malformed: (cause?: unknown) => Error): FilePiece | undefined {
  let frame: FileFrame | null;
  try {
    frame = JSON.parse(line) as FileFrame | null;
  } catch (cause) {
    throw malformed(cause);
  }
  const { File: file, Offset: offset = 0, Data: data = '', FileEvent: event } = frame ?? {};
  if (file === undefined) return undefined;
  return { file, offset, data: Buffer.from(data, 'base64'), event };
}
