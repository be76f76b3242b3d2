/** The tests of the API that are run at a follower of three servers as well. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { drawn } from '../test/support/draw.ts';

/**
 * Paths from the checkout: all of them, or the tenth of a draw. Files that start no API of `test/support/api.ts` are left
 * out, since they would do again what they did before.
 */
export function acceptanceFiles(root: string, draw: string): readonly string[] {
  const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
  const starts = (file: string) => /\bstartApi\(/.test(textOf(file));
  const helpers = globSync('test/support/*.ts', { cwd: root }).filter(starts);
  const helped = helpers.map((file) => `/support/${basename(file)}'`);
  const files = globSync('test/api/*.test.ts', { cwd: root })
    .filter((file) => starts(file) || helped.some((end) => textOf(file).includes(end)))
    .toSorted()
    .map((name) => ({ name }));
  return drawn(files, draw).map(({ name }) => name);
}
