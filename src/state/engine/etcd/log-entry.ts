import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { unshared } from '../../../base/release.ts';
import { batchHash } from '../../batch-hash.ts';
import type { Bytes } from '../../codec.ts';
import { StateCorrupted, StateFormatUnknown } from '../../errors.ts';
import type { Batch } from '../engine.ts';
import { bytesText, textBytes } from './head.ts';
import { type EtcdLimits, etcdLimits } from './limits.ts';

/** The heading of an entry of the log, before the bytes of the batch. */
export interface EntryHeading {
  readonly first: number;
  readonly last: number;
  /** Hash of the batch before. */
  readonly previous: string;
  /** Hash of this one. */
  readonly hash: string;
  /** The leader's time; absent in entries of 0.1.2 and before. */
  readonly time?: number | undefined;
  /** Id of the append that wrote it. */
  readonly batch: string;
  /** Number of keys that hold the bytes; 0: they follow the heading. */
  readonly parts: number;
  /** How the bytes are compressed; absent: not at all. */
  readonly packing?: string | undefined;
}

export interface LogEntry extends EntryHeading {
  /** Without those in parts. */
  readonly bytes: Bytes;
}

const newLine = 0x0a;

const zstd = 'zstd';
// Fast rather than small: the thread that compresses serves requests.
const params = { [constants.ZSTD_c_compressionLevel]: 1 };

/** The bytes of a batch as the log holds them. The hash of the batch is that of its bytes before compression. */
export interface Packed {
  readonly bytes: Bytes;
  readonly packing: EntryHeading['packing'];
}

export function packed({ bytes, isPackable }: Batch, limits: EtcdLimits): Packed {
  const { byteLength } = bytes;
  const isReadable = byteLength <= limits.partBytesMax;
  if (isPackable !== true || !isReadable || byteLength < limits.packedBytesMin) {
    return { bytes, packing: undefined };
  }
  return { bytes: unshared(zstdCompressSync(bytes, { params })), packing: zstd };
}

/** @throws StateCorrupted, StateFormatUnknown */
function unpacked({ packing }: EntryHeading, bytes: Bytes, key: string): Bytes {
  if (packing === undefined) return bytes;
  if (packing !== zstd) {
    throw new StateFormatUnknown(
      `${placeOf(key)} is packed as "${packing}", which this version does not read`,
    );
  }
  try {
    return unshared(zstdDecompressSync(bytes, { maxOutputLength: etcdLimits.partBytesMax }));
  } catch (error) {
    throw new StateCorrupted(placeOf(key), 'it cannot be decompressed', error);
  }
}

/** `{…}\n` and the bytes. */
export function encodeEntry(heading: EntryHeading, bytes: Bytes): Bytes {
  return joined([textBytes(`${JSON.stringify(heading)}\n`), bytes]);
}

/** @throws StateCorrupted */
export function decodeEntry(value: Bytes, key: string): LogEntry {
  try {
    const end = value.subarray(0, etcdLimits.headingBytesMax).indexOf(newLine);
    if (end < 0) throw new Error('it has no heading');
    const heading = JSON.parse(bytesText(value.subarray(0, end))) as EntryHeading;
    return { ...heading, bytes: value.subarray(end + 1) };
  } catch (error) {
    throw new StateCorrupted(placeOf(key), 'it cannot be read as a batch', error);
  }
}

export interface ReadBatch extends Batch {
  readonly previous: string;
  readonly hash: string;
}

/** The batch of an entry, with the bytes of its parts. @throws StateCorrupted, StateFormatUnknown */
export function batchOf(entry: LogEntry, stored: Bytes, key: string): ReadBatch {
  const bytes = unpacked(entry, stored, key);
  const { first: firstIndex, last: lastIndex, previous, hash, time: timeMs } = entry;
  if (batchHash({ previous, bytes }) !== hash) {
    throw new StateCorrupted(placeOf(key), 'its hash does not match');
  }
  return { firstIndex, lastIndex, previous, hash, timeMs, bytes };
}

const placeOf = (key: string): string => `the key ${key} of etcd`;

/** The bytes in pieces of at most this size. */
export function pieces(bytes: Bytes, size: number): Bytes[] {
  const found: Bytes[] = [];
  for (let at = 0; at < bytes.byteLength; at += size) found.push(bytes.subarray(at, at + size));
  return found;
}

export function joined(parts: readonly Bytes[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}
