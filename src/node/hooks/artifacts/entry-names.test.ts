import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkLink, entryParts } from './entry-names.ts';

test.each([
  ['a/b', ['a', 'b']],
  ['./a//b/', ['a', 'b']],
  ['./', []],
  ['..a/b..', ['..a', 'b..']],
])('%s is taken', (name, parts) => {
  expect(entryParts(name)).toEqual(parts);
});

test.each(['/etc/passwd', '../a', 'a/../../b', 'a/..', 'a\0b', 'x/'.repeat(65), 'y'.repeat(256)])(
  '%j is refused',
  (name) => {
    expect(() => entryParts(name)).toThrow(/^it holds/);
  },
);

test.each([
  ['a', 'b', true],
  ['a/b', '../c', true],
  ['a/b', '..', true],
  ['a', '.', true],
  ['a', '..', false],
  ['a/b', '../../c', false],
  ['a', '/etc', false],
  ['a', 'b/../../..', false],
  ['a', 'b/..', false],
])('a link %s to %s is fine: %s', (name, target, isFine) => {
  const check = () => checkLink(name.split('/'), target);
  if (isFine) expect(check).not.toThrow();
  else expect(check).toThrow();
});

test('no allowed link leads out, followed in any way', () => {
  const top = mkdtempSync(join(tmpdir(), 'roster-links-'));
  const word = fc.constantFrom('a', 'b', 'c', '..', '.');
  const path = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 });
  const link = fc.record({ parts: path, target: fc.array(word, { minLength: 1, maxLength: 5 }) });
  let round = 0;
  try {
    fc.assert(
      fc.property(fc.array(link, { minLength: 1, maxLength: 6 }), (links) => {
        const root = join(top, String(round++), 'deep', 'root');
        mkdirSync(root, { recursive: true });
        for (const { parts, target } of links) {
          try {
            checkLink(parts, target.join('/'));
            mkdirSync(dirname(join(root, ...parts)), { recursive: true });
            // Only below real directories, as unpacking does.
            if (realpathSync(dirname(join(root, ...parts))) !== dirname(join(root, ...parts)))
              continue;
            symlinkSync(target.join('/'), join(root, ...parts));
          } catch {}
        }
        for (const { parts } of links) {
          for (const more of [[], ['a'], ['a', 'b']]) {
            const end = resolved(join(root, ...parts), more);
            if (end === undefined) continue;
            expect(`${end}/`.startsWith(`${root}/`)).toBe(true);
          }
        }
      }),
      { numRuns: 150 },
    );
  } finally {
    rmSync(top, { recursive: true });
  }
});

function resolved(path: string, more: readonly string[]): string | undefined {
  try {
    return realpathSync(`${path}/${more.join('/')}`);
  } catch {
    return undefined;
  }
}
