import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { crc32 } from 'node:zlib';
import { StateCorrupted } from '../errors.ts';

/**
 * The number of the last acknowledged batch, in a small file beside the database.
 *
 * SQLite reads a damaged write-ahead log up to the damage and takes it for whole, whether a crash or
 * a fault of the disk did the damage. This file tells them apart: a crash cuts off no acknowledged
 * batch.
 *
 * The file has two slots of fixed width, written in turn without `fsync`. After a power loss the
 * number may be too low. Such a number detects less, but never refuses a whole log.
 */
export class Acknowledged {
  readonly #file: number;

  private constructor(file: number) {
    this.#file = file;
  }

  /**
   * The number in the file. 0 if the file is absent or empty: versions up to 0.1.1 left it empty when
   * they were killed while they started. Throws `StateCorrupted` if no slot is legible.
   */
  static read(path: string): number {
    const text = existsSync(path) ? readFileSync(path, 'latin1') : '';
    if (text === '') return 0;
    const slots = text.match(/.{26}/gs) ?? [];
    const numbers = slots.map(numberOf).filter((number) => number !== undefined);
    if (numbers.length > 0) return Math.max(...numbers);
    throw new StateCorrupted(
      path,
      'it is illegible; delete it to open the state as far as its log goes',
    );
  }

  /**
   * Whether the number is certainly the last one: the file is there, and each slot is legible or was never written.
   */
  static isCertain(path: string): boolean {
    const text = existsSync(path) ? readFileSync(path, 'latin1') : '';
    const slots = text.match(/.{1,26}/gs) ?? [];
    return slots.length > 0 && slots.every((slot) => slot === unwritten || isLegible(slot));
  }

  /** Replaces the file, durably: a crash leaves the old file or the new one. */
  static create(path: string, sequence: number): Acknowledged {
    const next = `${path}.next`;
    const acknowledged = new Acknowledged(openSync(next, 'w', 0o600));
    acknowledged.note(sequence);
    fsyncSync(acknowledged.#file);
    renameSync(next, path);
    return acknowledged;
  }

  note(sequence: number): void {
    const slot = slotOf(sequence);
    writeSync(this.#file, slot, (sequence & 1) * slot.length, 'latin1');
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** The first slot of a file that was made with an odd number. */
const unwritten = '\0'.repeat(26);

const isLegible = (slot: string): boolean => numberOf(slot) !== undefined;

function slotOf(sequence: number): string {
  const number = String(sequence).padStart(16, '0');
  return `${number} ${crc32(number).toString(16).padStart(8, '0')}\n`;
}

function numberOf(slot: string): number | undefined {
  const sequence = Number(slot.slice(0, 16));
  return slotOf(sequence) === slot ? sequence : undefined;
}
