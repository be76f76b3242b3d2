import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { base64Of, bytesOfBase64, joined } from './base64.ts';

test('with and without Node, base64 is the same', async () => {
  vi.stubGlobal('Buffer', undefined);
  // Another address is another instance of the module.
  const address = './base64.ts?without-node';
  const without: typeof import('./base64.ts') = await import(address);
  vi.unstubAllGlobals();
  expect(without.base64Of).not.toBe(base64Of);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const text = base64Of(bytes);
      expect(without.base64Of(bytes)).toBe(text);
      expect([...without.bytesOfBase64(text)]).toEqual([...bytes]);
      expect([...bytesOfBase64(text)]).toEqual([...bytes]);
    }),
  );
});

test('parts are joined in their order', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 5 })), (parts) => {
      expect([...joined(parts)]).toEqual(parts.flatMap((part) => [...part]));
    }),
  );
});
