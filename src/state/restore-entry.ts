import { SnapshotReader } from '../model/snapshot/snapshot-file.ts';
import { type Bytes, parse, type TransactionForm } from './codec.ts';
import { StateCorrupted } from './errors.ts';

/**
 * The durable form of a restore: a batch whose bytes are a line that names it, the length of a transaction
 * (4 bytes, the most significant one first), the transaction as JSON, and the file of the snapshot.
 *
 * The file replaces all rows, and the transaction runs on what it leaves. Every range counts as changed at
 * the index of the transaction, which is the last one of the batch. So a restore is a single entry of the
 * log: it is there whole or not at all, and whoever reads the log ends with the same tables.
 */
const firstLine = Buffer.from('roster restore\n');
// Not in limits: a part of the stored form.
const lengthBytes = 4;

export function encodeRestore(transaction: string, file: readonly Uint8Array[]): Bytes {
  const text = Buffer.from(transaction);
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32BE(text.byteLength);
  const parts = [firstLine, length, text, ...file];
  const bytes = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let end = 0;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.byteLength;
  }
  return bytes;
}

export interface RestoreEntry {
  readonly transaction: TransactionForm;
  /** JSON of the rows in the file, part by part. */
  readonly texts: Iterable<Bytes>;
}

/** What the bytes of a batch restore; `undefined`: they hold ordinary transactions. */
export function restoreIn(bytes: Bytes, place: string): RestoreEntry | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!buffer.subarray(0, firstLine.byteLength).equals(firstLine)) return undefined;
  const begin = firstLine.byteLength + lengthBytes;
  const end = begin + buffer.readUInt32BE(firstLine.byteLength);
  const transaction = parse(bytes.subarray(begin, end), place) as TransactionForm;
  return { transaction, texts: textsIn(bytes.subarray(end), place) };
}

function* textsIn(file: Bytes, place: string): Generator<Bytes> {
  const reader = new SnapshotReader();
  try {
    for (const frame of reader.take(file)) if (frame.kind === 'rows') yield frame.text;
    reader.end();
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'RosterError') throw error;
    throw new StateCorrupted(place, error.message, error);
  }
}
