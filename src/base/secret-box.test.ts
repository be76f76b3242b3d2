import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SimulatedWorld } from './ports-simulated.ts';
import { rootKeyBox } from './secret-box.ts';

const { secrets } = new SimulatedWorld(1);
const box = rootKeyBox(new Uint8Array(32).fill(7), secrets);
const other = rootKeyBox(new Uint8Array(32).fill(8), secrets);

test('a sealed text can be opened, and does not show its content', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 6 }), (plain) => {
      const sealed = box.seal(plain);
      expect(box.open(sealed)).toBe(plain);
      expect(sealed).not.toContain(plain);
      expect(sealed).not.toBe(box.seal(plain));
    }),
  );
});

describe('a sealed text cannot be opened', () => {
  const sealed = box.seal('secret');
  const flipped = `${sealed.slice(0, 30)}${sealed[30] === 'A' ? 'B' : 'A'}${sealed.slice(31)}`;
  test.each([
    ['under another key', () => other.open(sealed)],
    ['when a character was changed', () => box.open(flipped)],
    ['when it is cut off', () => box.open(sealed.slice(0, 20))],
    ['when it is no sealed text', () => box.open('secret')],
  ])('%s', (_title, open) => {
    expect(open).toThrow();
  });
});

test('fingerprints are equal exactly for the same secret under the same key', () => {
  expect(box.fingerprint('a')).toBe(box.fingerprint('a'));
  expect(box.fingerprint('a')).toMatch(/^[0-9a-f]{64}$/);
  expect(box.fingerprint('a')).not.toBe(box.fingerprint('b'));
  expect(box.fingerprint('a')).not.toBe(other.fingerprint('a'));
});

test('a root key of another length is refused', () => {
  expect(() => rootKeyBox(new Uint8Array(16), secrets)).toThrow('32 bytes');
});

test('a fingerprint is the HMAC that the crypto module computes', () => {
  const key = createHmac('sha256', new Uint8Array(32)).update('roster fingerprint').digest();
  const box = rootKeyBox(new Uint8Array(32), new SimulatedWorld(1).secrets);
  for (const text of ['', 'a', 'ünï', 'x'.repeat(1000)]) {
    expect(box.fingerprint(text)).toBe(createHmac('sha256', key).update(text).digest('hex'));
  }
});
