import type { Bytes } from '../../codec.ts';
import { type Pages, pageBytes } from './pages.ts';

/**
 * The rows of tables in pages of SQLite. A cell is a row: its size, its rowid, a header with the type of each column,
 * and the columns, of which the end may lie on a chain of further pages.
 */

export type Column = number | string | Bytes | null;

export interface Cell {
  readonly rowid: number;
  readonly columns: readonly Column[];
  /** Whether its chain of pages is whole. Otherwise the last column is cut off. */
  readonly isWhole: boolean;
}

// Not in limits: the form of SQLite's pages.
const leafOfTable = 0x0d;
const overflowHead = 4;
// Not in limits: the first page begins with the header of the file.
const fileHeaderBytes = 100;
const local = { most: pageBytes - 35, least: Math.floor(((pageBytes - 12) * 32) / 255) - 23 };

/** Offsets of the cells to which the header of a leaf points; `undefined`: the page does not look like a leaf. */
export function cellsOf(page: Buffer, number: number): readonly number[] | undefined {
  const head = number === 1 ? fileHeaderBytes : 0;
  if (page[head] !== leafOfTable) return undefined;
  const count = page.readUInt16BE(head + 3);
  const end = head + 8 + 2 * count;
  if (end > pageBytes) return undefined;
  const offsets = Array.from({ length: count }, (_, at) => page.readUInt16BE(head + 8 + 2 * at));
  return offsets.every((offset) => offset >= end && offset < pageBytes) ? offsets : undefined;
}

/**
 * Offsets where a row of the store may begin, whatever the header of the page says: before the header of a record,
 * which begins with its own length and the type NULL of a rowid, stand two numbers of some bytes.
 */
export function likelyCells(page: Buffer): readonly number[] {
  const offsets: number[] = [];
  for (let at = heads.least; at + 1 < pageBytes; at++) {
    const head = page[at]!;
    if (page[at + 1] !== 0 || head < heads.shortest || head > heads.longest) continue;
    for (let start = Math.max(0, at - heads.most); start <= at - heads.least; start++) {
      if (varint(page, varint(page, start)?.end ?? pageBytes)?.end === at) offsets.push(start);
    }
  }
  return offsets;
}

// Not in limits: lengths of the headers of records here, and of the two numbers before them.
const heads = { shortest: 4, longest: 10, least: 2, most: 14 };

/** The row at that offset of a page; `undefined`: nothing there looks like a row. */
export function cellAt(page: Buffer, offset: number, pages: Pages): Cell | undefined {
  const size = varint(page, offset);
  const rowid = size && varint(page, size.end);
  if (size === undefined || rowid === undefined) return undefined;
  const here = localLength(size.value);
  if (rowid.end + here + (here < size.value ? overflowHead : 0) > pageBytes) return undefined;
  const payload = page.subarray(rowid.end, rowid.end + here);
  const types = typesIn(payload, size.value);
  if (types === undefined) return undefined;
  const whole = here === size.value ? payload : chained(page, rowid.end, size.value, pages);
  const isWhole = whole.length === size.value;
  return { rowid: rowid.value, columns: columnsIn(whole, types), isWhole };
}

/** Bytes of a row of this size that stand in its cell. */
function localLength(size: number): number {
  if (size <= local.most) return size;
  const rest = local.least + ((size - local.least) % (pageBytes - overflowHead));
  return rest <= local.most ? rest : local.least;
}

/** The payload with the pages that it goes on in, as far as these can be read. */
function chained(page: Buffer, start: number, size: number, pages: Pages): Buffer {
  const here = localLength(size);
  const pieces = [page.subarray(start, start + here)];
  let left = size - here;
  let next = page.readUInt32BE(start + here);
  while (left > 0) {
    const more = next === 0 || next > pages.count ? undefined : pages.read(next);
    if (more === undefined) break;
    const piece = more.subarray(
      overflowHead,
      overflowHead + Math.min(left, pageBytes - overflowHead),
    );
    pieces.push(piece);
    left -= piece.length;
    next = more.readUInt32BE(0);
  }
  return Buffer.concat(pieces);
}

interface Types {
  readonly head: number;
  readonly codes: readonly number[];
}

/** The types in the header of a payload, whose lengths add up to its size. */
function typesIn(payload: Buffer, size: number): Types | undefined {
  const head = varint(payload, 0);
  if (head === undefined || head.value > payload.length || head.value < 2) return undefined;
  const codes: number[] = [];
  let length = head.value;
  for (let at = head.end; at < head.value; ) {
    const code = varint(payload, at);
    const columnLength = code && lengthOf(code.value);
    if (code === undefined || columnLength === undefined) return undefined;
    codes.push(code.value);
    length += columnLength;
    at = code.end;
  }
  return length === size ? { head: head.value, codes } : undefined;
}

/** Lengths of NULL, of integers, of a real number, and of the constants 0 and 1. */
const lengths = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];
// Not in limits: the types of SQLite's columns.
const textFrom = 13;
const blobFrom = 12;
const realCode = 7;

function lengthOf(code: number): number | undefined {
  if (code >= blobFrom) return Math.floor((code - blobFrom) / 2);
  return code === realCode ? undefined : lengths[code];
}

function columnsIn(payload: Buffer, { head, codes }: Types): Column[] {
  let at = head;
  return codes.map((code) => {
    const length = lengthOf(code)!;
    const bytes = payload.subarray(at, at + length);
    at += length;
    if (code >= blobFrom) {
      return code % 2 === textFrom % 2 ? bytes.toString('utf8') : Uint8Array.from(bytes);
    }
    if (code === 0) return null;
    if (length === 0) return code - 8;
    if (bytes.length < length) return null;
    return length === 8 ? Number(bytes.readBigInt64BE()) : bytes.readIntBE(0, length);
  });
}

/** SQLite's number of one to nine bytes; `undefined`: it is cut off, or is greater than any here. */
function varint(bytes: Buffer, start: number): { value: number; end: number } | undefined {
  let value = 0;
  // Not in limits: eight groups of seven bits hold every number that occurs.
  for (let at = start; at < start + 8 && at < bytes.length; at++) {
    const byte = bytes[at]!;
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return value <= Number.MAX_SAFE_INTEGER ? { value, end: at + 1 } : undefined;
  }
  return undefined;
}
