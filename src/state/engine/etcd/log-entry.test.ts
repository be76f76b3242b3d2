import { describe, expect, test } from 'vitest';
import { batchHash } from '../../batch-hash.ts';
import { StateCorrupted, StateFormatUnknown } from '../../errors.ts';
import type { Batch } from '../engine.ts';
import { bytesText, textBytes } from './head.ts';
import { etcdLimits } from './limits.ts';
import { batchOf, decodeEntry, encodeEntry, type Packed, packed } from './log-entry.ts';

const batchWith = (text: string, isPackable = true): Batch => ({
  firstIndex: 3,
  lastIndex: 4,
  bytes: textBytes(text),
  previous: 'previous',
  isPackable,
});

const large = '["row"],'.repeat(etcdLimits.packedBytesMin / 8);

/** The entry of the batch, as a reader finds it. */
function entryOf(batch: Batch, { bytes, packing }: Packed) {
  const { firstIndex: first, lastIndex: last, previous = '' } = batch;
  const hash = batchHash(batch)!;
  return decodeEntry(
    encodeEntry({ first, last, previous, hash, batch: 'id', parts: 0, packing }, bytes),
    'log/3',
  );
}

describe('a batch in the log', () => {
  test.each([
    ['is compressed from the least size on', batchWith(large), true],
    ['is left as it is below that', batchWith(large.slice(1)), false],
    ['is left as it is while some server may not read it', batchWith(large, false), false],
  ])('%s', (_title, batch, isSmaller) => {
    const stored = packed(batch, etcdLimits);
    expect(stored.bytes.byteLength < batch.bytes.byteLength).toBe(isSmaller);
    const entry = entryOf(batch, stored);
    expect(bytesText(batchOf(entry, entry.bytes, 'log/3').bytes)).toBe(bytesText(batch.bytes));
  });

  test('is left as it is if it is larger than what a reader decompresses', () => {
    const bounds = { ...etcdLimits, partBytesMax: large.length - 1 };
    expect(packed(batchWith(large), bounds).packing).toBeUndefined();
  });

  test('is damaged if it cannot be decompressed', () => {
    const batch = batchWith(large);
    const { bytes, packing } = packed(batch, etcdLimits);
    const entry = entryOf(batch, { bytes: bytes.slice(0, -1), packing });
    expect(() => batchOf(entry, entry.bytes, 'log/3')).toThrow(StateCorrupted);
  });

  test('of a later program is refused by the name of its packing', () => {
    const batch = batchWith(large);
    const entry = entryOf(batch, { bytes: batch.bytes, packing: 'lz9' });
    const read = () => batchOf(entry, entry.bytes, 'log/3');
    expect(read).toThrow(StateFormatUnknown);
    expect(read).toThrow('the key log/3 of etcd is packed as "lz9"');
  });
});
