import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteBlock } from './byte-block.ts';

const pieces = fc.array(
  fc.record({
    length: fc.oneof(fc.nat(100), fc.nat(70_000), fc.nat(300_000)),
    fill: fc.nat(255),
    clears: fc.boolean(),
  }),
  { maxLength: 12 },
);

test('blocks have the bytes added since they were cleared, and none of each other', () => {
  fc.assert(
    fc.property(pieces, (added) => {
      const blocks = [new ByteBlock(), new ByteBlock()];
      const expected = [Buffer.alloc(0), Buffer.alloc(0)];
      for (const [at, { length, fill, clears }] of added.entries()) {
        const which = at % 2;
        const piece = Buffer.alloc(length, fill);
        blocks[which]!.add(piece);
        expected[which] = Buffer.concat([expected[which]!, piece]);
        // The block has a copy.
        piece.fill(255 - fill);
        for (const [index, block] of blocks.entries()) {
          expect(block.length).toBe(expected[index]!.length);
          expect(block.bytes.equals(expected[index]!)).toBe(true);
        }
        if (!clears) continue;
        blocks[which]!.clear();
        expected[which] = Buffer.alloc(0);
      }
    }),
    { numRuns: 50 },
  );
});

test('a block that is filled again and again has the same memory', () => {
  const block = new ByteBlock();
  const memory = new Set<ArrayBufferLike>();
  for (let time = 0; time < 10; time++) {
    block.add(Buffer.alloc(65_000));
    block.add(Buffer.alloc(60_000));
    memory.add(block.bytes.buffer);
    block.clear();
  }
  expect(memory.size).toBe(1);
});
