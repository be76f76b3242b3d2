/** The packages that are compiled for another platform than this machine's, for a release for that platform. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { npmCommand } from '../setup.mjs';
import { runTool, type Source } from './source.ts';

export const platforms: readonly string[] = ['linux-arm64', 'linux-x64'];

interface Locked {
  readonly version: string;
  readonly integrity?: string;
}

/**
 * Fetches the packages of the platform into the folder `compiled`, in the versions of the lock file.
 *
 * @throws Error if npm cannot fetch a package, or it is another one than the lock file names
 */
export function fetchCompiled(source: Source): void {
  const lock = JSON.parse(readFileSync(join(source.root, 'package-lock.json'), 'utf8'));
  for (const name of [`node-${source.platform}`, `@lydell/node-pty-${source.platform}`]) {
    const { version, integrity } = lock.packages[`node_modules/${name}`] as Locked;
    const into = join(source.compiled, name);
    mkdirSync(into, { recursive: true });
    const { command, args } = npmCommand();
    const words = ['pack', '--loglevel=error', '--pack-destination', into, `${name}@${version}`];
    runTool(source, source.root, [command, ...args, ...words]);
    const [packed] = readdirSync(into);
    const path = join(into, packed!);
    if (integrity !== undefined && !integrity.split(' ').includes(integrityOf(path))) {
      throw new Error(`${name}@${version} is another package than package-lock.json names`);
    }
    runTool(source, into, ['tar', '-xzf', path, '--strip-components=1']);
  }
}

const integrityOf = (path: string): string =>
  `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`;
