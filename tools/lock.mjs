// @ts-check
// Completes package-lock.json: `npm run lock`, after a dependency was added or changed. Plain
// JavaScript, for it must run before `npm ci` can.
//
// Packages with native parts name one optional package per platform. A registry mirror need not
// carry those of other platforms; npm then leaves them out of the lock file, and `npm ci` refuses
// the very file that `npm install` wrote (npm/cli issue 9846). Their version is exact and their
// platform stands in their name, so that is what is written here: npm then passes over them.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {object} LockEntry
 * @property {string} [version]
 * @property {boolean} [dev]
 * @property {boolean} [optional]
 * @property {string[]} [os]
 * @property {string[]} [cpu]
 * @property {string[]} [libc]
 * @property {Record<string, string>} [optionalDependencies]
 */
/** @typedef {{ packages: Record<string, LockEntry> }} LockFile */

const systems = 'aix android darwin freebsd linux netbsd openbsd openharmony sunos win32';
const processors = 'arm arm64 ia32 loong64 mips64el ppc64 riscv64 s390x x64';

/**
 * The lock file with an entry for every optional package it names, and the names of the new ones.
 *
 * @param {LockFile} lock
 * @returns {{ lock: LockFile, added: string[] }}
 */
export function completeLock(lock) {
  /** @type {Record<string, LockEntry>} */
  const added = {};
  for (const [path, entry] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      if (isLocked(lock, path, name)) continue;
      const { cpu, libc, os } = platformOf(name, version);
      // In npm's own order, so that its next write changes nothing here.
      added[`node_modules/${name}`] = {
        version,
        cpu,
        ...(entry.dev ? { dev: true } : {}),
        ...(libc ? { libc } : {}),
        optional: true,
        os,
      };
    }
  }
  const packages = Object.entries({ ...lock.packages, ...added });
  packages.sort(([left], [right]) => (left < right ? -1 : 1));
  return {
    lock: { ...lock, packages: Object.fromEntries(packages) },
    added: Object.keys(added).map((path) => path.replace('node_modules/', '')),
  };
}

/**
 * As Node resolves: beside the package that asks, then in each folder above it.
 *
 * @param {LockFile} lock
 * @param {string} fromPath
 * @param {string} name
 */
function isLocked(lock, fromPath, name) {
  for (let path = fromPath; ; ) {
    const folder = path === '' ? 'node_modules' : `${path}/node_modules`;
    if (lock.packages[`${folder}/${name}`] !== undefined) return true;
    if (path === '') return false;
    path = path.slice(0, Math.max(path.lastIndexOf('/node_modules/'), 0));
  }
}

/**
 * @param {string} name
 * @param {string} version
 * @returns {{ cpu: string[], libc?: string[], os: string[] }}
 */
function platformOf(name, version) {
  const words = name.split(/[/-]/).map((word) => (/^arm(eabi|v\d)/.test(word) ? 'arm' : word));
  const os = systems.split(' ').find((system) => words.includes(system));
  const cpu = processors.split(' ').find((processor) => words.includes(processor));
  if (os === undefined || cpu === undefined || !/^\d+\.\d+\.\d+/.test(version)) {
    throw new Error(
      `package-lock.json lacks the optional package ${name}@${version}, and its name does not ` +
        'tell its platform: add it by hand',
    );
  }
  const libc = words.find((word) => /^(musl|gnu)/.test(word));
  if (libc === undefined) return { cpu: [cpu], os: [os] };
  return { cpu: [cpu], libc: [libc.startsWith('gnu') ? 'glibc' : 'musl'], os: [os] };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = process.argv[2] ?? fileURLToPath(new URL('../package-lock.json', import.meta.url));
  const { lock, added } = completeLock(JSON.parse(readFileSync(path, 'utf8')));
  if (added.length > 0) writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(added.length === 0 ? 'nothing was missing' : `added ${added.join(', ')}`);
}
