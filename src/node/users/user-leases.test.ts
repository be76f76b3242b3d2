/** Leases of user ids, with real directories and processes, but without agents. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { needing, root } from '../../base/not-run.test-helper.ts';
import { UidRegistry } from './uid-registry.ts';
import { UserLeases } from './user-leases.ts';

const range = { start: 1_600_000_000, count: 512 };

let place: string;
let known: Set<string>;
let notices: string[];
let stray: ChildProcess | undefined;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'roster-users-'));
  known = new Set(['a', 'b', 'c', 'd']);
  notices = [];
});
afterEach(() => {
  stray?.kill('SIGKILL');
  stray = undefined;
  rmSync(place, { recursive: true, force: true });
});

const directory = (name: string): string => {
  mkdirSync(join(place, name), { recursive: true });
  return join(place, name);
};
const registryOf = (name: string) => new UidRegistry(join(place, 'registry'), directory(name));
const open = (name: string, change: { count?: number } = {}) =>
  UserLeases.open({
    dataDirectory: directory(name),
    range: { ...range, ...change },
    registry: registryOf(name),
    isKnown: (allocation) => known.has(allocation),
    onNotice: (sentence) => void notices.push(sentence),
  });
const kept = (name: string) =>
  JSON.parse(readFileSync(join(place, name, 'user-leases.json'), 'utf8')).leases;

describe('a lease', () => {
  test('is on disk once it is given, and found by the next agent', async () => {
    const leases = await open('one');
    const { uid, gid } = await leases.lease('a');
    expect([gid, kept('one')]).toEqual([uid, { a: uid }]);
    expect((await open('one')).of('a')).toEqual({ uid, gid });
    expect(await (await open('one')).lease('a')).toEqual({ uid, gid });
  });

  test('is different for each of many allocations at once', async () => {
    const leases = await open('one');
    const names = Array.from({ length: 100 }, (_, at) => `allocation-${at}`);
    const users = await Promise.all(names.map((name) => leases.lease(name)));
    expect(new Set(users.map(({ uid }) => uid)).size).toBe(100);
    expect(Object.keys(kept('one')).length).toBe(100);
  });

  test('that cannot be saved is not given until it can', async () => {
    const leases = await open('one');
    // A directory is in the place of the file.
    mkdirSync(join(directory('one'), 'user-leases.json.new', 'x'), { recursive: true });
    await expect(leases.lease('a')).rejects.toThrow(/its user id cannot be kept: /);
    expect(leases.of('a')).toBeUndefined();
    rmSync(join(place, 'one', 'user-leases.json.new'), { recursive: true, force: true });
    expect(await leases.lease('a')).toEqual({ uid: expect.any(Number), gid: expect.any(Number) });
  });

  test('lasts while the node knows the allocation, and while its directory is there', async () => {
    const leases = await open('one');
    const { uid } = await leases.lease('a');
    const files = join(directory('one'), 'alloc', 'a');
    mkdirSync(files, { recursive: true });
    rmdirSync(files);
    await leases.sweep();
    expect(kept('one')).toEqual({ a: uid });
    mkdirSync(files);
    known.delete('a');
    await leases.sweep();
    expect(kept('one')).toEqual({ a: uid });
    rmdirSync(files);
    await leases.sweep();
    expect(kept('one')).toEqual({});
  });

  test('lasts while a process has the id', needing(root), async () => {
    const leases = await open('one');
    const { uid } = await leases.lease('a');
    stray = spawn('sleep', ['600'], { uid, gid: uid, stdio: 'ignore' });
    await once(stray, 'spawn');
    known.delete('a');
    await leases.sweep();
    expect(kept('one')).toEqual({ a: uid });
    stray.kill('SIGKILL');
    await once(stray, 'exit');
    await leases.sweep();
    expect(kept('one')).toEqual({});
    expect((await leases.lease('b')).uid).not.toBe(uid);
  });

  test('is refused when the range is used up, until an allocation is removed', async () => {
    const leases = await open('one', { count: 2 });
    const users = [await leases.lease('a'), await leases.lease('b')];
    await expect(leases.lease('c')).rejects.toThrow(
      'no user id of isolation.uid_range 1600000000:2 is free',
    );
    known.delete('a');
    expect(await leases.lease('c')).toEqual(users[0]);
  });

  test('in an allocation’s own record holds even if the file is lost or damaged', async () => {
    const { uid } = await (await open('one')).lease('a');
    for (const damage of [undefined, '{"version":1}', '{', '']) {
      rmSync(join(place, 'one', 'user-leases.json'));
      if (damage !== undefined) writeFileSync(join(place, 'one', 'user-leases.json'), damage);
      const next = await open('one');
      next.keep('a', uid);
      expect((await next.lease('a')).uid).toBe(uid);
      expect((await next.lease('b')).uid).not.toBe(uid);
      expect(notices.splice(0).length).toBe(damage === undefined ? 0 : 1);
    }
  });
});

describe('agents of one machine', () => {
  test('in different processes that lease at the same time get different ids', async () => {
    const program = `
      import { UidRegistry } from ${JSON.stringify(join(import.meta.dirname, 'uid-registry.ts'))};
      import { UserLeases } from ${JSON.stringify(join(import.meta.dirname, 'user-leases.ts'))};
      const dataDirectory = process.argv[1];
      const registry = new UidRegistry(${JSON.stringify(join(place, 'registry'))}, dataDirectory);
      const range = ${JSON.stringify(range)};
      const leases = await UserLeases.open({ dataDirectory, range, registry, isKnown: () => true, onNotice: console.error });
      for (const name of ['a', 'b', 'c']) console.log((await leases.lease(name)).uid);
    `;
    const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program];
    const runs = Array.from({ length: 6 }, (_, at) =>
      promisify(execFile)(process.execPath, [...args, '--', directory(`agent-${at}`)]),
    );
    const said = (await Promise.all(runs)).flatMap(({ stdout }) => stdout.trim().split('\n'));
    expect(said.length).toBe(18);
    expect(new Set(said).size).toBe(18);
  });

  test('keep their ids while they do not run, and lose them with their directory', async () => {
    const whole = { count: 1 };
    await (await open('one', whole)).lease('a');
    await expect((await open('two', whole)).lease('a')).rejects.toThrow(/no user id/);
    rmSync(join(place, 'one'), { recursive: true });
    expect((await (await open('two', whole)).lease('a')).uid).toBe(range.start);
  });

  test('return their ids at the end if they keep nothing', async () => {
    const whole = { count: 1 };
    const brief = await open('one', whole);
    await brief.lease('a');
    brief.release();
    expect((await (await open('two', whole)).lease('a')).uid).toBe(range.start);
  });

  test('keep their ids when their directory moves; a copy of it gets others', async () => {
    const { uid } = await (await open('one')).lease('a');
    cpSync(join(place, 'one'), join(place, 'copy'), { recursive: true });
    const copy = await open('copy');
    await expect(copy.lease('a')).rejects.toThrow(`user id ${uid} is claimed by another agent`);
    expect((await copy.lease('b')).uid).not.toBe(uid);
    renameSync(join(place, 'one'), join(place, 'moved'));
    expect((await (await open('moved')).lease('a')).uid).toBe(uid);
  });

  test('keep their ids when the registry is lost, and report when it cannot be read', async () => {
    const { uid } = await (await open('one')).lease('a');
    rmSync(join(place, 'registry'), { recursive: true });
    expect((await open('one')).of('a')?.uid).toBe(uid);
    expect((await (await open('two')).lease('a')).uid).not.toBe(uid);
    rmSync(join(place, 'registry'), { recursive: true });
    writeFileSync(join(place, 'registry'), 'in the way');
    expect((await open('one')).of('a')?.uid).toBe(uid);
    expect(notices.join()).toMatch(/the registry of user ids in .* cannot be used/);
    await expect((await open('three')).lease('a')).rejects.toThrow(/cannot be used/);
  });
});
