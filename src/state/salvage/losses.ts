/** A row whose newest form is lost, or a row whose deletion is lost, so that it is back. */
export interface LostRow {
  readonly table: string;
  /** `undefined`: this part of the key is illegible. */
  readonly key: readonly (string | undefined)[];
  /** Index of the transaction whose effect is lost; `undefined`: it is illegible. */
  readonly index: number | undefined;
  readonly change: 'written' | 'deleted';
  /** Whether the name is certain. Otherwise it was read from damaged bytes. */
  readonly isCertain: boolean;
}

/** A piece of the store that is lost with all its rows, which cannot all be named. */
export interface LostPiece {
  readonly at: string;
  /** The indexes of the transactions in it, as far as they are known. */
  readonly fromIndex?: number | undefined;
  readonly toIndex?: number | undefined;
}

/** Everything that a repair loses. */
export class Losses {
  readonly pieces: LostPiece[] = [];
  readonly #rows = new Map<string, LostRow>();

  /** By table and key. */
  get rows(): readonly LostRow[] {
    return [...this.#rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
  }

  get isEmpty(): boolean {
    return this.pieces.length === 0 && this.#rows.size === 0;
  }

  /** Of several changes of a row the last one is told, and a certain one before one that is not. */
  addRow(row: LostRow): void {
    const name = JSON.stringify([row.table, row.key]);
    const known = this.#rows.get(name);
    if (known?.isCertain === true && !row.isCertain) return;
    this.#rows.delete(name);
    this.#rows.set(name, row);
  }

  addPiece(piece: LostPiece): void {
    this.pieces.push(piece);
  }
}
