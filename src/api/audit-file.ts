import { createWriteStream, type WriteStream } from 'node:fs';
import { limits } from '../model/limits.ts';
import type { Log } from '../server/context.ts';
import type { AuditSink } from './audit.ts';

/**
 * Appends to a file that only its user can read. If the disk is slow or fails, lines are lost and
 * requests continue; the log tells how many lines.
 */
export class AuditFile implements AuditSink {
  readonly #stream: WriteStream;
  readonly #log: Log;
  #lost = 0;

  constructor(path: string, log: Log) {
    this.#log = log;
    this.#stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
    this.#stream.on('error', (error) =>
      log.error({ path, error }, 'the audit log cannot be written'),
    );
    this.#stream.on('drain', () => this.#tellLost());
  }

  write(line: string): void {
    const { writableLength, writable } = this.#stream;
    if (!writable || writableLength + line.length > limits.audit.queuedBytesMax) this.#lost++;
    else this.#stream.write(line);
  }

  close(): Promise<void> {
    this.#tellLost();
    return new Promise((resolve) => {
      if (this.#stream.destroyed) resolve();
      else this.#stream.once('close', () => resolve()).end();
    });
  }

  #tellLost(): void {
    if (this.#lost > 0) this.#log.error({ lines: this.#lost }, 'lines of the audit log were lost');
    this.#lost = 0;
  }
}
