import { limits } from '../../../model/limits.ts';
import { ArtifactFailure } from './failure.ts';
import type { ArtifactSettings } from './settings.ts';

/**
 * The budget of one artifact for unpacking. Bytes are counted before they are written, so that an
 * archive bomb ends before it fills the disk.
 */
export class Budget {
  readonly #settings: ArtifactSettings;
  /** The size of the archive; `undefined`: it is no archive. */
  readonly #packedBytes: number | undefined;
  #files = 0;
  #bytes = 0;

  constructor(settings: ArtifactSettings, packedBytes?: number) {
    this.#settings = settings;
    this.#packedBytes = packedBytes;
  }

  /** Counts a file, directory or link. @throws ArtifactFailure */
  takeFile(): void {
    this.#files++;
    const { filesMax } = this.#settings;
    if (this.#files > filesMax) throw new ArtifactFailure(`it holds more than ${filesMax} files`);
  }

  /** @throws ArtifactFailure */
  takeBytes(count: number): void {
    this.#bytes += count;
    const { unpackedBytesMax, ratioMax } = this.#settings;
    if (this.#bytes > unpackedBytesMax) {
      throw new ArtifactFailure(`it holds more than ${unpackedBytesMax} bytes`);
    }
    if (this.#packedBytes === undefined || this.#bytes <= limits.artifact.ratioFreeBytes) return;
    if (this.#bytes > this.#packedBytes * ratioMax) {
      throw new ArtifactFailure(
        `it unpacks to more than ${ratioMax} times its ${this.#packedBytes} bytes: it may be a bomb`,
      );
    }
  }
}
