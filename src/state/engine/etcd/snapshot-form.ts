import { gunzipSync, gzipSync } from 'node:zlib';
import { release, unshared } from '../../../base/release.ts';
import type { Bytes } from '../../codec.ts';
import { StateCorrupted } from '../../errors.ts';
import { bytesText, textBytes } from './head.ts';
import { etcdLimits } from './limits.ts';
import { joined } from './log-entry.ts';

/** A snapshot in etcd. Only the pointer makes it one: chunks that it does not name are nothing. */
export interface SnapshotRecord {
  readonly id: string;
  readonly index: number;
  /** Of the last batch that it covers. */
  readonly hash: string;
  readonly chunks: number;
  readonly bytes: number;
  /** Of all chunks. */
  readonly sha256: string;
  /** Of the parts before they were compressed. */
  readonly contentSha256: string;
}

/** The newest snapshot, and the snapshot before it, which takes its place if it is damaged. */
export interface Pointer {
  readonly current: SnapshotRecord;
  readonly before?: SnapshotRecord | undefined;
}

export const encodePointer = (pointer: Pointer): Bytes => textBytes(JSON.stringify(pointer));

/** @throws StateCorrupted */
export function decodePointer(value: Bytes, key: string): Pointer {
  try {
    const pointer = JSON.parse(bytesText(value)) as Pointer;
    if (typeof pointer.current.index !== 'number') throw new Error('it names no index');
    return pointer;
  } catch (error) {
    throw new StateCorrupted(`the key ${key} of etcd`, 'it names no snapshot', error);
  }
}

// Not in limits: the length of a number of four bytes.
const lengthBytes = 4;

/** A part of a snapshot as chunks hold it. */
export const frameOf = (part: Bytes): Bytes =>
  // Fast rather than small: the thread that compresses serves requests.
  framed(gzipSync(part, { level: 1 }));

/** The length of the compressed bytes, and these. */
export function framed(compressed: Uint8Array): Bytes {
  const frame = new Uint8Array(lengthBytes + compressed.byteLength);
  new DataView(frame.buffer).setUint32(0, compressed.byteLength);
  frame.set(compressed, lengthBytes);
  return frame;
}

/** Takes over the bytes of chunks, gives the parts that they hold. */
export class FrameReader {
  #rest: Bytes = new Uint8Array();
  readonly #place: string;

  constructor(place: string) {
    this.#place = place;
  }

  /** @throws StateCorrupted */
  *read(chunk: Bytes): Generator<Bytes> {
    const bytes = this.#rest.byteLength === 0 ? chunk : joined([this.#rest, chunk]);
    if (bytes !== chunk) release(chunk);
    let at = 0;
    for (;;) {
      const end = this.#endOfPart(bytes, at);
      if (end === undefined) break;
      yield this.#part(bytes.subarray(at + lengthBytes, end));
      at = end;
    }
    this.#rest = bytes.slice(at);
    release(bytes);
  }

  /** @throws StateCorrupted unless the last part was whole */
  end(): void {
    if (this.#rest.byteLength > 0) throw this.#fault('its last part is not whole');
  }

  /** @throws StateCorrupted */
  #endOfPart({ buffer, byteOffset, byteLength }: Bytes, at: number): number | undefined {
    if (byteLength < at + lengthBytes) return undefined;
    const length = new DataView(buffer, byteOffset + at).getUint32(0);
    if (length > etcdLimits.partBytesMax) throw this.#fault('a part is too large');
    const end = at + lengthBytes + length;
    return end <= byteLength ? end : undefined;
  }

  #part(compressed: Bytes): Bytes {
    try {
      const { partBytesMax: maxOutputLength } = etcdLimits;
      return unshared(gunzipSync(compressed, { maxOutputLength }));
    } catch (error) {
      throw this.#fault('a part cannot be decompressed', error);
    }
  }

  #fault(fault: string, cause?: unknown): StateCorrupted {
    return new StateCorrupted(this.#place, fault, cause);
  }
}
