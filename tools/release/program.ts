/** The program with its Node, unpacked, as the archive and the Debian package have it. */
import { chmodSync, cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Source } from './source.ts';

/** Files of packages that the program needs at run time beside its bundle. */
const packaged = [
  '@lydell/node-pty/LICENSE',
  '@lydell/node-pty/package.json',
  '@lydell/node-pty/requireBinary.js',
];

/** The compiled files of packages. */
const compiledFor = (platform: string): readonly string[] => [
  `node-${platform}/bin/node`,
  `node-${platform}/LICENSE`,
  `@lydell/node-pty-${platform}/package.json`,
  `@lydell/node-pty-${platform}/pty.node`,
];

/** The programs of the bundle in `dist`. The client is for the npm package alone. */
export const programFiles = (dist: string): string[] =>
  readdirSync(dist)
    .filter((name) => name.endsWith('.js') && name !== 'sdk.js')
    .sort();

/** The files of the web interface, by their paths in `dist`. */
export const uiFiles = (dist: string): string[] =>
  readdirSync(join(dist, 'ui'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dist, join(entry.parentPath, entry.name)))
    .sort();

/** Lays the program out in `folder`, from its bundle in `dist`. */
export function layOutProgram(
  { root, build, platform, compiled }: Source,
  dist: string,
  folder: string,
): void {
  const copy = (from: string, to: string): void => {
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    cpSync(from, join(folder, to));
  };
  for (const path of ['bin/roster', 'bin/compile-cache.cjs']) copy(join(root, path), path);
  const modules = join(root, 'node_modules');
  for (const path of packaged) copy(join(modules, path), `node_modules/${path}`);
  for (const path of compiledFor(platform)) copy(join(compiled, path), `node_modules/${path}`);
  for (const name of [...programFiles(dist), ...uiFiles(dist)])
    copy(join(dist, name), join('dist', name));
  const manifest = { name: 'roster', version: build.version, type: 'module' };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  chmodSync(join(folder, 'bin/roster'), 0o755);
}
