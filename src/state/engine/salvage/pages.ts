import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * The pages of `state.db` and of its write-ahead log, read without SQLite, so that damage to the structure of the
 * file hides nothing that is legible. The form of both files is SQLite's own: sqlite.org/fileformat.html.
 */

// Not in limits: the size of pages that SQLite chooses where nobody asks for another.
export const pageBytes = 4096;
// Not in limits: the form of SQLite's write-ahead log.
const walHeaderBytes = 32;
// Not in limits: the form of SQLite's write-ahead log.
const frameHeaderBytes = 24;
const frameBytes = frameHeaderBytes + pageBytes;

/** The pages of a database as they are together at a moment. Numbers count from 1. */
export interface Pages {
  readonly count: number;
  /** `undefined`: there is no such page, or the file is cut off within it. */
  read(page: number): Buffer | undefined;
}

export class DatabasePages {
  readonly #database: StoredFile;
  readonly #wal: StoredFile;
  /** Offsets of the newest pages in the write-ahead log, as far as SQLite reads it, and in the whole of it. */
  readonly #committed = new Map<number, number>();
  readonly #written = new Map<number, number>();

  constructor(database: string) {
    this.#database = new StoredFile(database);
    this.#wal = new StoredFile(`${database}-wal`);
    this.#scanWal();
  }

  /** The pages as SQLite shows them. */
  get committed(): Pages {
    return this.#pages(this.#committed);
  }

  /**
   * Other views of the pages, the newest one first: with the part of the write-ahead log that SQLite takes for cut
   * off, and without the log.
   */
  get others(): readonly Pages[] {
    return [this.#pages(this.#written), this.#pages(new Map())];
  }

  close(): void {
    this.#database.close();
    this.#wal.close();
  }

  #pages(frames: ReadonlyMap<number, number>): Pages {
    const inFile = Math.ceil(this.#database.size / pageBytes);
    let count = inFile;
    for (const page of frames.keys()) if (page <= this.#pagesMax) count = Math.max(count, page);
    return {
      count,
      read: (page) => {
        const offset = frames.get(page);
        if (offset !== undefined) return this.#wal.read(offset, pageBytes);
        return this.#database.read((page - 1) * pageBytes, pageBytes);
      },
    };
  }

  /** The numbers of pages are no greater: each page was written once at least. */
  get #pagesMax(): number {
    return Math.ceil((this.#database.size + this.#wal.size) / pageBytes);
  }

  /** Frames count for SQLite up to the last one that ends a transaction, as long as the chain of checksums holds. */
  #scanWal(): void {
    const header = this.#wal.read(0, walHeaderBytes);
    const first = this.#wal.read(walHeaderBytes, frameHeaderBytes);
    if (header === undefined || first === undefined) return;
    const sums = headerSums(header);
    const salts = sums === undefined ? first.subarray(8, 16) : header.subarray(16, 24);
    let isChained = sums !== undefined;
    let sum: Sums = sums ?? [0, 0];
    const isBig = (header.readUInt32BE(0) & 1) === 1;
    let open = new Map<number, number>();
    for (let at = walHeaderBytes; at + frameBytes <= this.#wal.size; at += frameBytes) {
      const frame = this.#wal.read(at, frameBytes)!;
      const page = frame.readUInt32BE(0);
      if (!frame.subarray(8, 16).equals(salts)) {
        isChained = false;
        continue;
      }
      this.#written.set(page, at + frameHeaderBytes);
      if (!isChained) continue;
      sum = summed(
        frame.subarray(frameHeaderBytes),
        summed(frame.subarray(0, 8), sum, isBig),
        isBig,
      );
      isChained = sum[0] === frame.readUInt32BE(16) && sum[1] === frame.readUInt32BE(20);
      if (!isChained) continue;
      open.set(page, at + frameHeaderBytes);
      if (frame.readUInt32BE(4) === 0) continue;
      for (const [number, offset] of open) this.#committed.set(number, offset);
      open = new Map();
    }
  }
}

type Sums = readonly [number, number];

/** The checksums of the header, with which those of the frames go on; `undefined`: they do not match. */
function headerSums(header: Buffer): Sums | undefined {
  const magic = header.readUInt32BE(0);
  // Not in limits: numbers of SQLite's write-ahead log; the last bit is the order of bytes.
  if ((magic & ~1) >>> 0 !== 0x377f0682 || header.readUInt32BE(8) !== pageBytes) return undefined;
  const sums = summed(header.subarray(0, 24), [0, 0], (magic & 1) === 1);
  const isRight = sums[0] === header.readUInt32BE(24) && sums[1] === header.readUInt32BE(28);
  return isRight ? sums : undefined;
}

/** SQLite's checksum over pairs of words. */
function summed(bytes: Buffer, [first, second]: Sums, isBig: boolean): Sums {
  let [one, two] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    one = (one + (isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + two) >>> 0;
    two = (two + (isBig ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + one) >>> 0;
  }
  return [one, two];
}

/** A file that may be absent. */
class StoredFile {
  readonly size: number;
  readonly #file: number | undefined;

  constructor(path: string) {
    this.#file = existsSync(path) ? openSync(path, 'r') : undefined;
    this.size = this.#file === undefined ? 0 : fstatSync(this.#file).size;
  }

  /** `undefined`: the file ends before, or the disk does not give it. */
  read(offset: number, length: number): Buffer | undefined {
    if (this.#file === undefined || offset < 0 || offset + length > this.size) return undefined;
    const bytes = Buffer.allocUnsafe(length);
    try {
      return readSync(this.#file, bytes, 0, length, offset) === length ? bytes : undefined;
    } catch {
      return undefined;
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }
}
