/** The container image: the single executable file over the libraries of Debian that Node needs, built by Podman. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runTool, type Source } from './source.ts';
import { writeTar } from './tar.ts';

/** Makes the archive `path` of the image. `folder` takes its tree and what Podman keeps. */
export async function makeImage(
  source: Source,
  executable: string,
  { folder, path }: { readonly folder: string; readonly path: string },
): Promise<void> {
  layOutRoot(join(folder, 'root'), executable);
  await writeTar(join(folder, 'root'), join(folder, 'root.tar'), { ...source, directories });
  const containerfile = join(source.root, 'tools/release/image/Containerfile');
  const [store, image] = [join(folder, 'store'), join(folder, 'image')];
  const flags = ['--root', store, '--runroot', join(folder, 'run'), '--storage-driver=vfs'];
  const podman = (...words: readonly string[]) =>
    runTool(source, folder, ['podman', ...flags, ...words]);
  const name = `localhost/roster:${source.build.version}`;
  const time = ['--timestamp', String(source.epochS), '--format=oci', '--quiet'];
  podman('build', ...time, '--tag', name, '--file', containerfile, folder);
  podman('save', '--quiet', '--format=oci-dir', '--output', image, name);
  await writeTar(image, path, source);
}

/** Directories that the program writes to. */
const directories = {
  tmp: { owner: 0, mode: 0o1777 },
  'var/lib/roster': { owner: 999, mode: 0o700 },
};

/** A user of its own, and what the program reads of a system. */
function layOutRoot(root: string, executable: string): void {
  for (const folder of ['etc', 'usr/bin', ...Object.keys(directories)]) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  copyFileSync(executable, join(root, 'usr/bin/roster'));
  const libraries = librariesOf(executable);
  const licences = Object.keys(packagesOf(libraries)).map(
    (name) => `/usr/share/doc/${name}/copyright`,
  );
  for (const path of [...libraries, ...licences]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    copyFileSync(realpathSync(path), join(root, path));
  }
  const users = [
    'root:x:0:0:root:/:/sbin/nologin',
    'roster:x:999:999::/var/lib/roster:/sbin/nologin',
  ];
  writeFileSync(join(root, 'etc/passwd'), `${users.join('\n')}\n`);
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nroster:x:999:\n');
}

/** The libraries of an executable, by their paths on this machine, the loader among them. */
export const librariesOf = (executable: string): string[] =>
  [...execFileSync('ldd', [executable], { encoding: 'utf8' }).matchAll(/(\/\S+) \(/g)]
    .map(([, library]) => library!)
    .sort();

/** The packages of Debian that have these libraries, with their versions. */
export function packagesOf(libraries: readonly string[]): Record<string, string> {
  const names = new Set(libraries.map(packageOf));
  const version = (name: string) =>
    execFileSync('dpkg-query', ['--show', '--showformat=${Version}', name], { encoding: 'utf8' });
  return Object.fromEntries([...names].sort().map((name) => [name, version(name)]));
}

/** @throws Error if no package has the library */
function packageOf(library: string): string {
  const real = realpathSync(library);
  // Some packages name their files without `/usr`, to which the directories at the top are links.
  for (const path of [library, real, real.replace(/^\/usr/, '')]) {
    const { status, stdout } = spawnSync('dpkg-query', ['--search', path], { encoding: 'utf8' });
    if (status === 0) return stdout.split(':')[0]!;
  }
  throw new Error(`no Debian package of this machine has ${library}`);
}
