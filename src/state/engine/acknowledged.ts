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
 * SQLite takes a write-ahead log that breaks off for the end of the log, whether a crash or a
 * fault of the disk cut it. Only the first may be silent, and this file tells them apart.
 *
 * It has two slots of fixed width, written in turn without `fsync`: a number that is too low
 * after a power loss checks less, and never refuses what is whole.
 */
export class Acknowledged {
  readonly #file: number;

  private constructor(file: number) {
    this.#file = file;
  }

  /**
   * The number in the file. 0 when there is no file, or an empty one: versions up to 0.1.1 left it
   * so when they were killed in the moment of their start. Throws `StateCorrupted` if none is legible.
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

  /** Starts the file over at this number, durably; a crash leaves the old file or the new one. */
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

function slotOf(sequence: number): string {
  const number = String(sequence).padStart(16, '0');
  return `${number} ${crc32(number).toString(16).padStart(8, '0')}\n`;
}

function numberOf(slot: string): number | undefined {
  const sequence = Number(slot.slice(0, 16));
  return slotOf(sequence) === slot ? sequence : undefined;
}
