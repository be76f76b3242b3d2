import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { completeLock } from './lock.mjs';

const lockOf = (optionalDependencies: Record<string, string>, dev = true) => ({
  packages: { '': {}, 'node_modules/a': { dev, optionalDependencies } },
});

describe('package-lock.json', () => {
  test('names every optional package, so that `npm ci` accepts it (`npm run lock` adds them)', () => {
    const text = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8');
    expect(completeLock(JSON.parse(text)).added).toEqual([]);
    expect(text).not.toContain('"resolved"');
  });

  test.each<[name: string, platform: object]>([
    ['@a/cli-linux-x64', { cpu: ['x64'], os: ['linux'] }],
    ['@a/cli-linux-arm64-musl', { cpu: ['arm64'], libc: ['musl'], os: ['linux'] }],
    ['@a/b-linux-arm-gnueabihf', { cpu: ['arm'], libc: ['glibc'], os: ['linux'] }],
    ['@a/b-win32-ia32-msvc', { cpu: ['ia32'], os: ['win32'] }],
  ])('gets an entry for %s', (name, platform) => {
    const { lock, added } = completeLock(lockOf({ [name]: '1.2.3' }));
    expect(added).toEqual([name]);
    const entry = { version: '1.2.3', dev: true, optional: true, ...platform };
    expect(lock.packages[`node_modules/${name}`]).toEqual(entry);
  });

  test('an entry in a folder above is enough', () => {
    const lock = lockOf({ 'b-linux-x64': '1.0.0' });
    const nested = { ...lock.packages, 'node_modules/c/node_modules/b-linux-x64': {} };
    const above = { ...lock.packages, 'node_modules/b-linux-x64': {} };
    expect(completeLock({ packages: nested }).added).toEqual(['b-linux-x64']);
    expect(completeLock({ packages: above }).added).toEqual([]);
  });

  test('a name without a platform is for a person', () => {
    expect(() => completeLock(lockOf({ fsevents: '2.3.3' }))).toThrow(/fsevents@2\.3\.3/);
  });
});
