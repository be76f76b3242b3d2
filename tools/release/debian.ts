/** The Debian package: the unpacked program, two units for systemd, and a configuration file. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { layOutProgram } from './program.ts';
import { runTool, type Source } from './source.ts';

/** Debian's names of the processors, by Node's. */
const architectures: Readonly<Record<string, string>> = {
  'linux-x64': 'amd64',
  'linux-arm64': 'arm64',
};

/** @throws Error for a platform that Debian does not know */
export function debianArchitecture(platform: string): string {
  const found = architectures[platform];
  if (found === undefined) throw new Error(`there is no Debian package for ${platform}`);
  return found;
}

/** Makes the package `path`. `folder` takes its tree. */
export function makeDebianPackage(
  source: Source,
  dist: string,
  { folder, path }: { readonly folder: string; readonly path: string },
): void {
  const own = join(source.root, 'tools/release/debian');
  const put = (from: string, to: string, mode = 0o644): void => {
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    cpSync(from, join(folder, to), { recursive: true });
    if (statSync(from).isFile()) chmodSync(join(folder, to), mode);
  };
  const program = join(folder, 'usr/lib/roster');
  layOutProgram(source, dist, program);
  mkdirSync(join(folder, 'usr/bin'), { recursive: true });
  symlinkSync('../lib/roster/bin/roster', join(folder, 'usr/bin/roster'));
  for (const unit of ['roster', 'roster-server']) {
    put(join(own, `${unit}.service`), `usr/lib/systemd/system/${unit}.service`);
  }
  put(join(own, 'agent.hcl'), 'etc/roster/agent.hcl');
  put(join(own, 'copyright'), 'usr/share/doc/roster/copyright');
  for (const name of ['README.md', 'CHANGELOG.md', 'docs', 'examples']) {
    put(join(source.root, name), `usr/share/doc/roster/${name}`);
  }
  put(join(own, 'lintian-overrides'), 'usr/share/lintian/overrides/roster');
  writeChangelog(source, join(folder, 'usr/share/doc/roster/changelog.gz'));
  // Its compiled code would become a part of the package. This Node runs it, since that of the package may be for others.
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' };
  const words = [join(dist, 'main.js'), 'completion', 'bash'];
  const completion = execFileSync(process.execPath, words, { env });
  const completions = join(folder, 'usr/share/bash-completion/completions');
  mkdirSync(completions, { recursive: true });
  writeFileSync(join(completions, 'roster'), completion);
  writeControl(source, folder);
  for (const script of ['postinst', 'prerm', 'postrm']) {
    put(join(own, script), `DEBIAN/${script}`, 0o755);
  }
  setModes(folder);
  // Every dpkg reads gzip, and Debian's archive takes it; xz is a quarter smaller, and takes a minute.
  const flags = ['--root-owner-group', '-Zgzip'];
  runTool(source, dirname(folder), ['dpkg-deb', ...flags, '--build', folder, path]);
}

/** Not in limits: an address that is nobody's. */
const maintainer = 'The contributors to Roster <contributors@roster.invalid>';

/** The changelog in Debian's form, which leads to ours. */
function writeChangelog({ build, epochS }: Source, path: string): void {
  const date = new Date(epochS * 1000).toUTCString().replace('GMT', '+0000');
  const text = `roster (${build.version}) unstable; urgency=medium

  * The changes are in /usr/share/doc/roster/CHANGELOG.md.

 -- ${maintainer}  ${date}
`;
  writeFileSync(path, gzipSync(text, { level: 9 }));
}

/** The description of the package, as its control file has it. */
function writeControl({ root, build, platform }: Source, folder: string): void {
  const { description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly description: string;
  };
  const [synopsis = '', parts = ''] = description.split(': ');
  const fields = {
    Package: 'roster',
    Version: build.version,
    Architecture: debianArchitecture(platform),
    Maintainer: maintainer,
    'Installed-Size': String(Math.ceil(bytesBelow(folder) / 1024)),
    // Of Node: the newest symbols of the libraries that it uses.
    Depends: 'adduser, libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 7)',
    Recommends: 'bubblewrap',
    Suggests: 'podman | docker.io, default-jre-headless',
    Section: 'admin',
    Priority: 'optional',
    Description: `${synopsis}\n ${parts.charAt(0).toUpperCase()}${parts.slice(1)}`,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\n`);
  mkdirSync(join(folder, 'DEBIAN'));
  writeFileSync(join(folder, 'DEBIAN/control'), lines.join(''));
  writeFileSync(join(folder, 'DEBIAN/conffiles'), '/etc/roster/agent.hcl\n');
}

/** The modes that files have for any umask of the checkout. */
function setModes(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink()) continue;
    const isProgram = (statSync(path).mode & 0o100) !== 0 && !entry.name.endsWith('.node');
    const isRunnable = entry.isDirectory() || isProgram;
    chmodSync(path, isRunnable ? 0o755 : 0o644);
  }
}

const bytesBelow = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((bytes, { parentPath, name }) => bytes + statSync(join(parentPath, name)).size, 0);
