import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ControlFrame,
  decodeControl,
  decodeData,
  encodeControl,
  encodeData,
  MalformedFrame,
  maximumCreditBytes,
} from './frames.ts';

describe('control frames', () => {
  const id = fc.integer({ min: 1, max: 2 ** 32 - 1 });
  const frame: fc.Arbitrary<ControlFrame> = fc.oneof(
    fc.record({
      type: fc.constant('open' as const),
      id,
      kind: fc.string({ minLength: 1 }),
      params: fc.constant({ alloc_id: 'a', follow: true }),
      creditBytes: fc.integer({ min: 0, max: maximumCreditBytes }),
    }),
    fc.record({
      type: fc.constant('credit' as const),
      id,
      bytes: fc.integer({ min: 1, max: maximumCreditBytes }),
    }),
    fc.record({ type: fc.constantFrom('close' as const, 'end' as const), id }),
    fc.record({
      type: fc.constant('error' as const),
      id,
      status: fc.integer({ min: 400, max: 599 }),
      code: fc.string(),
      message: fc.string(),
    }),
  );

  test('come back as they were sent', () => {
    fc.assert(
      fc.property(frame, (sent) => {
        expect(decodeControl(encodeControl(sent))).toEqual(sent);
      }),
    );
  });

  test.each([
    ['not JSON', '{', /not JSON/],
    ['no object', '[1]', /not an object/],
    ['no known member', '{"hello":1}', /none of/],
    ['id zero', '{"end":0}', /stream id/],
    ['id a string', '{"end":"1"}', /stream id/],
    ['id too great', `{"end":${2 ** 32}}`, /stream id/],
    ['open without kind', '{"open":1,"credit":1}', /no kind/],
    ['open with params that are a list', '{"open":1,"kind":"x","params":[],"credit":1}', /params/],
    ['open without credit', '{"open":1,"kind":"x"}', /credit/],
    ['credit of nothing', '{"credit":1,"bytes":0}', /credit/],
    ['credit beyond the bound', '{"credit":1,"bytes":99999999999}', /credit/],
    ['too long', `{"end":1,"x":"${'x'.repeat(70000)}"}`, /characters/],
  ])('malformed: %s', (_name, text, reason) => {
    expect(() => decodeControl(text)).toThrow(MalformedFrame);
    expect(() => decodeControl(text)).toThrow(reason);
  });
});

describe('data frames', () => {
  test('are four bytes of id and the payload', () => {
    expect([...encodeData({ id: 0x01020304, payload: Uint8Array.of(9, 8) })]).toEqual([
      1, 2, 3, 4, 9, 8,
    ]);
    expect(decodeData(Uint8Array.of(0, 0, 0, 7, 1))).toEqual({ id: 7, payload: Uint8Array.of(1) });
  });

  test.each([
    ['shorter than an id', Uint8Array.of(0, 0, 1)],
    ['id zero', Uint8Array.of(0, 0, 0, 0, 1)],
    ['longer than 64 KiB', new Uint8Array(64 * 1024 + 5).fill(1)],
  ])('malformed: %s', (_name, bytes) => {
    expect(() => decodeData(bytes)).toThrow(MalformedFrame);
  });
});
