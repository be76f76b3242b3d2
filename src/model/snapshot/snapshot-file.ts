import { createHash, type Hash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { refusal } from '../errors.ts';
import { limits } from '../limits.ts';
import { isHeader, type SnapshotHeader, type SnapshotRows } from './snapshot-header.ts';

/**
 * The file of a saved snapshot: a line that names it, then frames. A frame is a letter, the length of its
 * content (4 bytes, the most significant one first), and the content:
 *
 *   H  the header as JSON
 *   R  rows of a table: JSON, deflated
 *   E  the end: the SHA-256 of all bytes before this frame
 *
 * Invariants
 *  F1. The header comes first and the end last. A file without its end is refused as cut off.
 *  F2. A file is right only if its checksum is. A reader that acts on frames before the end has to be able to take
 *      it back.
 *  F3. A file of a later format is refused by its number, before anything else of it is read.
 */
export const snapshotFormat = 1;

const firstLine = Buffer.from('roster snapshot\n');
// Not in limits: a part of the format.
const frameHeadBytes = 5;
// Not in limits: the length of a SHA-256.
const checksumBytes = 32;
const letters = { header: 0x48, rows: 0x52, end: 0x45 } as const;

type Bytes = Uint8Array<ArrayBuffer>;

export type SnapshotFrame =
  | { readonly kind: 'header'; readonly header: SnapshotHeader }
  /** JSON of `SnapshotRows`. `bytes`: its size in the file. */
  | { readonly kind: 'rows'; readonly text: Bytes; readonly bytes: number }
  | { readonly kind: 'end'; readonly checksum: string };

/** Makes the pieces of a file, in order. */
export class SnapshotWriter {
  readonly #hash = createHash('sha256');

  begin(header: SnapshotHeader): Bytes {
    const frame = framed(letters.header, Buffer.from(JSON.stringify(header)));
    return this.#counted(Buffer.concat([firstLine, frame]));
  }

  /** `text`: JSON of `SnapshotRows`. */
  rows(text: Uint8Array): Bytes {
    return this.#counted(framed(letters.rows, deflateRawSync(text, { level: 1 })));
  }

  end(): Bytes {
    return framed(letters.end, this.#hash.digest());
  }

  #counted(bytes: Bytes): Bytes {
    this.#hash.update(bytes);
    return bytes;
  }
}

function framed(letter: number, content: Uint8Array): Bytes {
  const bytes = new Uint8Array(frameHeadBytes + content.byteLength);
  bytes[0] = letter;
  new DataView(bytes.buffer).setUint32(1, content.byteLength);
  bytes.set(content, frameHeadBytes);
  return bytes;
}

/** Takes a file apart, in whatever pieces it comes. */
export class SnapshotReader {
  readonly #hash: Hash = createHash('sha256');
  #unread: Uint8Array = new Uint8Array();
  #isNamed = false;
  #header: SnapshotHeader | undefined;
  #isOver = false;

  /** The frames that the piece completes. @throws RosterError `snapshot-damaged`, `snapshot-too-new` */
  *take(piece: Uint8Array): Generator<SnapshotFrame, void, void> {
    if (this.#isOver && piece.byteLength > 0) throw damaged('it goes on after its end');
    this.#unread = this.#unread.byteLength === 0 ? piece : Buffer.concat([this.#unread, piece]);
    if (!this.#takeFirstLine()) return;
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) yield frame;
  }

  /** To be called after the last piece. @throws RosterError `snapshot-damaged` */
  end(): void {
    if (!this.#isOver) throw damaged('it is cut off');
  }

  #takeFirstLine(): boolean {
    if (this.#isNamed) return true;
    const begun = this.#unread.subarray(0, firstLine.byteLength);
    if (!firstLine.subarray(0, begun.byteLength).equals(begun)) {
      throw damaged('it does not begin as a snapshot does');
    }
    if (begun.byteLength < firstLine.byteLength) return false;
    this.#isNamed = true;
    this.#dropBytes(firstLine.byteLength);
    return true;
  }

  #next(): SnapshotFrame | undefined {
    const all = this.#unread;
    if (all.byteLength < frameHeadBytes) return undefined;
    if (this.#isOver) throw damaged('it goes on after its end');
    const length = new DataView(all.buffer, all.byteOffset).getUint32(1);
    if (length > limits.snapshot.frameBytesMax) throw damaged('a part of it is too large');
    const bytes = frameHeadBytes + length;
    if (all.byteLength < bytes) return undefined;
    const frame = this.#frameOf(all[0]!, all.subarray(frameHeadBytes, bytes));
    if (frame.kind !== 'end') this.#dropBytes(bytes);
    else if (all.byteLength > bytes) throw damaged('it goes on after its end');
    else this.#unread = new Uint8Array();
    return frame;
  }

  #frameOf(letter: number, content: Uint8Array): SnapshotFrame {
    if (letter === letters.header && this.#header === undefined) {
      this.#header = headerIn(content);
      return { kind: 'header', header: this.#header };
    }
    if (this.#header === undefined) throw damaged('its header is missing');
    if (letter === letters.rows) {
      return { kind: 'rows', text: inflated(content), bytes: frameHeadBytes + content.byteLength };
    }
    if (letter !== letters.end || content.byteLength !== checksumBytes) {
      throw damaged('a part of it is of no known kind');
    }
    const checksum = this.#hash.digest('hex');
    if (checksum !== Buffer.from(content).toString('hex')) {
      throw damaged('its checksum does not match its content');
    }
    this.#isOver = true;
    return { kind: 'end', checksum };
  }

  /** Consumes bytes, which the checksum covers. */
  #dropBytes(bytes: number): void {
    this.#hash.update(this.#unread.subarray(0, bytes));
    this.#unread = this.#unread.subarray(bytes);
  }
}

/** All frames of a file. @throws RosterError `snapshot-damaged`, `snapshot-too-new` */
export async function* framesIn(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<SnapshotFrame, void, void> {
  const reader = new SnapshotReader();
  for await (const piece of pieces) yield* reader.take(piece);
  reader.end();
}

/** The rows in a frame. @throws RosterError `snapshot-damaged` */
export function rowsIn(text: Uint8Array): SnapshotRows {
  const rows = parsed(text, 'rows of it are not JSON') as Partial<SnapshotRows> | null;
  const isForm =
    typeof rows?.Table === 'string' && typeof rows.Version === 'number' && Array.isArray(rows.Rows);
  if (!isForm) throw damaged('rows of it have no table');
  return rows as SnapshotRows;
}

function headerIn(content: Uint8Array): SnapshotHeader {
  const header = parsed(content, 'its header is not JSON') as { readonly Format?: unknown } | null;
  const format = header?.Format;
  if (typeof format === 'number' && format > snapshotFormat) {
    const reason = `it has the format ${format}; this program reads up to format ${snapshotFormat}`;
    throw refusal('snapshot-too-new', { reason });
  }
  if (!isHeader(header)) throw damaged('its header is incomplete');
  return header;
}

function parsed(content: Uint8Array, otherwise: string): unknown {
  try {
    return JSON.parse(Buffer.from(content).toString('utf8'));
  } catch {
    throw damaged(otherwise);
  }
}

function inflated(content: Uint8Array): Bytes {
  try {
    const maxOutputLength = limits.snapshot.frameTextBytesMax;
    return inflateRawSync(content, { maxOutputLength });
  } catch {
    throw damaged('a part of it cannot be unpacked');
  }
}

const damaged = (reason: string) => refusal('snapshot-damaged', { reason });
