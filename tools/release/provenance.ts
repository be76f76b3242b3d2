/** The provenance of a release: from which sources and by which tools it was made, to make it again. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { librariesOf, packagesOf } from './image.ts';
import { ownPlatform, type Source, sha256Of } from './source.ts';

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
}

/** The text of the provenance. The machine and the time of making are not in it, so it is the same again. */
export async function provenanceOf(source: Source): Promise<string> {
  const { root, build, epochS, platform, compiled } = source;
  const lockFile = join(root, 'package-lock.json');
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as Lock;
  const versionOf = (name: string) => packages[`node_modules/${name}`]?.version;
  const node = join(compiled, `node-${platform}/bin/node`);
  const provenance = {
    version: build.version,
    commit: build.commit ?? 'none: files were changed since the commit',
    sourceDateEpoch: epochS,
    platform,
    command: 'npm run release',
    lockFile: { path: 'package-lock.json', sha256: await sha256Of(lockFile) },
    node: { version: versionOf(`node-${platform}`), sha256: await sha256Of(node) },
    tools: {
      esbuild: versionOf('esbuild'),
      vite: versionOf('vite'),
      svelte: versionOf('svelte'),
      typescript: versionOf('ts7'),
      postject: versionOf('postject'),
      'dpkg-deb': versionIn('dpkg-deb'),
      podman: versionIn('podman'),
    },
    // The image is only made for the platform of the machine.
    ...(platform === ownPlatform && { debianPackagesInImage: packagesOf(librariesOf(node)) }),
  };
  return `${JSON.stringify(provenance, null, 2)}\n`;
}

/** The version that a program tells in its first line; `undefined`: it is not installed. */
const versionIn = (program: string): string | undefined =>
  /\d+\.\d+[.\d]*/.exec(spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[0];
