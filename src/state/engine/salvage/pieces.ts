import { crc32 } from 'node:zlib';
import type { Bytes } from '../../codec.ts';
import { batchChecksum, partChecksum, type SnapshotRecord } from '../log-check.ts';
import type { StoreMark } from '../offline.ts';
import { type Format, metaFormat, metaSnapshot } from '../sqlite-files.ts';
import { type Cell, cellAt, cellsOf, likelyCells } from './cells.ts';
import type { Pages } from './pages.ts';

/** A cell that a piece can be read from again. */
interface Spot {
  readonly pages: Pages;
  readonly page: number;
  readonly offset: number;
}

export interface FoundBatch extends Spot {
  readonly sequence: number;
  readonly firstIndex: number;
  readonly lastIndex: number;
}

export interface FoundPart extends Spot {
  readonly snapshotIndex: number;
  readonly ordinal: number;
}

/** A row of the log or of a snapshot whose checksum does not match: its content may serve to name what is lost. */
export interface TornPiece extends Spot {
  readonly rowid: number;
}

/**
 * The pieces of a store that are legible, wherever they lie in its files.
 *
 * Invariants
 *  P1. A piece counts only if its checksum matches its content and its number, whatever page it was found on. So
 *      damage to the structure of the database loses no piece.
 *  P2. A piece that is found several times is the one that SQLite would show, if that one is legible.
 */
export class FoundPieces {
  /** Batches by sequence. Several have the same only if the log was begun anew. */
  readonly batches = new Map<number, FoundBatch[]>();
  /** Parts by index of their snapshot and ordinal. */
  readonly parts = new Map<number, Map<number, FoundPart>>();
  /** Records of snapshots, the newest view first. */
  readonly records: SnapshotRecord[] = [];
  readonly torn: TornPiece[] = [];
  /** The format with its mark, as SQLite would show it; `undefined`: it is illegible. */
  format: Format | undefined;

  /** Takes the rows to which the pages of a view point. `isShown`: it is the view of SQLite. */
  scan(pages: Pages, isShown: boolean): void {
    this.#scanCells(pages, isShown, cellsOf);
  }

  /** Takes all that looks like a row: those of pages without their header, and those that rows left behind. */
  scanThoroughly(pages: Pages): void {
    this.#scanCells(pages, false, likelyCells);
  }

  #scanCells(
    pages: Pages,
    isShown: boolean,
    offsetsIn: (page: Buffer, number: number) => readonly number[] | undefined,
  ): void {
    for (let number = 1; number <= pages.count; number++) {
      const page = pages.read(number);
      if (page === undefined) continue;
      for (const offset of offsetsIn(page, number) ?? []) {
        const cell = cellAt(page, offset, pages);
        if (cell !== undefined) this.#takeCell(cell, { pages, page: number, offset }, isShown);
      }
    }
  }

  get mark(): StoreMark | undefined {
    return this.format?.Mark;
  }

  #takeCell(cell: Cell, spot: Spot, isShown: boolean): void {
    const { columns } = cell;
    if (columns.length === metaColumns) {
      this.#takeMeta(cell, isShown);
      return;
    }
    const piece = pieceOf(cell);
    if (piece === undefined) return;
    if (piece.kind === 'torn') {
      if (isShown) this.torn.push({ ...spot, rowid: cell.rowid });
    } else if (piece.kind === 'batch') this.#addBatch({ ...spot, ...piece });
    else this.#addPart({ ...spot, ...piece });
  }

  #takeMeta({ rowid, columns }: Cell, isShown: boolean): void {
    const [, body, checksum] = columns;
    if (typeof body !== 'string' || crc32(`${rowid}:${body}`) !== checksum) return;
    if (rowid === metaFormat && isShown) this.format ??= JSON.parse(body) as Format;
    if (rowid === metaSnapshot) this.records.push(JSON.parse(body) as SnapshotRecord);
  }

  #addBatch(batch: FoundBatch): void {
    const known = this.batches.get(batch.sequence) ?? [];
    if (known.some(({ firstIndex }) => firstIndex === batch.firstIndex)) return;
    this.batches.set(batch.sequence, [...known, batch]);
  }

  #addPart(part: FoundPart): void {
    const { snapshotIndex, ordinal } = part;
    const parts = this.parts.get(snapshotIndex) ?? new Map<number, FoundPart>();
    this.parts.set(snapshotIndex, parts);
    if (!parts.has(ordinal)) parts.set(ordinal, part);
  }
}

/** The bytes of a piece that was found. */
export function bytesAt({ pages, page, offset }: Spot): Bytes {
  const cell = cellAt(pages.read(page)!, offset, pages)!;
  return cell.columns.at(-1) as Bytes;
}

// Not in limits: the columns of the table `meta`, and of the two others.
const metaColumns = 3;
const pieceColumns = 5;

type Piece =
  | ({ readonly kind: 'batch' } & Omit<FoundBatch, keyof Spot>)
  | ({ readonly kind: 'part' } & Omit<FoundPart, keyof Spot>)
  | { readonly kind: 'torn' };

/** Rows of the log and of snapshots have columns alike: the checksum tells them apart. */
function pieceOf({ rowid, columns, isWhole }: Cell): Piece | undefined {
  if (columns.length !== pieceColumns) return undefined;
  const [id, first, second, checksum, bytes] = columns;
  const isPiece = id === null && typeof first === 'number' && typeof second === 'number';
  if (!isPiece || !(bytes instanceof Uint8Array)) return undefined;
  if (!isWhole) return { kind: 'torn' };
  const batch = { firstIndex: first, lastIndex: second, bytes };
  if (batchChecksum(rowid, batch) === checksum) {
    return { kind: 'batch', sequence: rowid, firstIndex: first, lastIndex: second };
  }
  if (partChecksum(first, second, bytes) === checksum) {
    return { kind: 'part', snapshotIndex: first, ordinal: second };
  }
  return { kind: 'torn' };
}
