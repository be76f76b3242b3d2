/**
 * `npm run release [-- --out DIR] [--only PART,…] [--platform linux-arm64]`: makes the files of a release, for the platform of
 * this machine unless another is named.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { fetchCompiled, platforms } from './other-platform.ts';
import { makeRelease, type Part, parts } from './release.ts';
import { ownPlatform, sourceOf } from './source.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    only: { type: 'string' },
    platform: { type: 'string', default: ownPlatform },
  },
});
const { platform } = values;
const isOwn = platform === ownPlatform;
// The image is built by running in it, and of the libraries of this machine.
const possible = parts.filter((part) => isOwn || part !== 'image');
const only = (values.only?.split(',') ?? possible) as Part[];
const unknown = only.filter((part) => !possible.includes(part));
if (unknown.length > 0 || !(isOwn || platforms.includes(platform))) {
  console.error(
    `--platform takes ${platforms.join(' or ')}, and --only takes ${possible.join(', ')}, separated by commas`,
  );
  process.exit(2);
}
const out = values.out === undefined ? join(root, 'release') : resolve(values.out);
const fetched = mkdtempSync(join(tmpdir(), 'roster-platform-'));
try {
  const own = sourceOf(root);
  const source = isOwn ? own : { ...own, platform, compiled: fetched };
  if (source.build.commit === undefined) {
    console.error('Files were changed since the last commit, so the release names no commit.');
  }
  if (!isOwn) fetchCompiled(source);
  await makeRelease(source, { out, only, tell: console.log });
  console.log(join(out, 'SHA256SUMS'));
} finally {
  rmSync(fetched, { recursive: true, force: true });
}
