import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Clock } from '../../../base/ports.ts';
import type { FileInProgress } from '../../environment.ts';

/** A file of the archive, as its manifest lists it. */
export interface Member {
  readonly Name: string;
  readonly Bytes: number;
}

/** Something that the archive should have and does not. */
export interface Missing {
  readonly Name: string;
  readonly Reason: string;
}

/** A `.tar.gz` that is written while its files come. */
export class DebugArchive {
  readonly members: Member[] = [];
  readonly missing: Missing[] = [];
  bytes = 0;
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #pack: import('tar-stream').Pack;
  readonly #written: Promise<void>;

  private constructor(pack: import('tar-stream').Pack, options: ArchiveOptions) {
    this.#directory = options.directory;
    this.#clock = options.clock;
    this.#pack = pack;
    this.#written = pipeline(pack as unknown as Readable, createGzip(), async (source) => {
      for await (const part of source as AsyncIterable<Uint8Array>) {
        this.bytes += part.length;
        await options.file.write(part);
      }
    });
    this.#written.catch(() => {});
  }

  /** Few commands make archives: the library is loaded here. */
  static async begin(options: ArchiveOptions): Promise<DebugArchive> {
    const { default: tar } = await import('tar-stream');
    return new DebugArchive(tar.pack(), options);
  }

  /** Adds a file. Rejects with the system's error. */
  async add(name: string, content: string | Uint8Array): Promise<void> {
    const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
    this.members.push({ Name: name, Bytes: bytes.length });
    const mtime = new Date(this.#clock.nowMs());
    const head = { name: `${this.#directory}/${name}`, mode: 0o600, mtime };
    const added = new Promise<void>((resolve, reject) => {
      this.#pack.entry(head, bytes, (error) => (error ? reject(error) : resolve()));
    });
    await Promise.race([added, this.#written]);
  }

  addJson(name: string, value: unknown): Promise<void> {
    return this.add(name, `${JSON.stringify(value, null, 2)}\n`);
  }

  /** Resolves when all is written. Rejects with the system's error. */
  async finish(): Promise<void> {
    this.#pack.finalize();
    await this.#written;
  }
}

export interface ArchiveOptions {
  readonly file: FileInProgress;
  /** The directory of all files in the archive. */
  readonly directory: string;
  readonly clock: Clock;
}
