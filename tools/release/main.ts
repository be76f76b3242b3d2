/** `npm run release [-- --out DIR] [--only PART,…]`: makes the files of a release for the platform of this machine. */
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makeRelease, type Part, parts } from './release.ts';
import { sourceOf } from './source.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({
  options: { out: { type: 'string' }, only: { type: 'string', default: parts.join(',') } },
});
const only = values.only.split(',') as Part[];
const unknown = only.filter((part) => !parts.includes(part));
if (unknown.length > 0) {
  console.error(
    `--only takes ${parts.join(', ')}, separated by commas, and not ${unknown.join(', ')}`,
  );
  process.exit(2);
}
const out = values.out === undefined ? join(root, 'release') : resolve(values.out);
const source = sourceOf(root);
if (source.build.commit === undefined) {
  console.error('Files were changed since the last commit, so the release names no commit.');
}
await makeRelease(source, { out, only, tell: console.log });
console.log(join(out, 'SHA256SUMS'));
