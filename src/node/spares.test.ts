import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import {
  type AllocationFiles,
  filesOnDisk,
  filesWithSpares,
  savedAllocationPath,
  savedAllocationsDirectory,
} from './allocation-runner/files.ts';
import { allocationDirectories, taskDirectories } from './directories.ts';
import { eventually } from './eventually.test-helper.ts';
import { spareLimits } from './limits.ts';
import { Spares } from './spares.ts';

let dataDirectory: string;
let world: SimulatedWorld;
let spares: Spares;
let files: AllocationFiles;

beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'roster-spare-'));
  world = new SimulatedWorld(3);
  spares = new Spares(dataDirectory, world.timers);
  files = filesWithSpares(spares);
});

afterEach(async () => {
  await spares.close();
  await rm(dataDirectory, { recursive: true });
});

/** Only root gives directories away. */
const [uid, gid] =
  process.getuid!() === 0 ? [65534, 65534] : [process.getuid!(), process.getgid!()];

/** Makes the directories of an allocation with one task. Returns its root. */
async function begin(id: string, from: AllocationFiles = files, owner = false): Promise<string> {
  const paths = allocationDirectories(dataDirectory, id);
  await from.makeDirectories(paths);
  const isNew = await from.makeTaskDirectories(
    taskDirectories(paths, 'app'),
    owner ? { uid, gid } : undefined,
  );
  expect(isNew).toBe(true);
  return paths.root;
}

const spareNames = (): string[] =>
  existsSync(join(dataDirectory, 'spare')) ? readdirSync(join(dataDirectory, 'spare')).sort() : [];

/** Waits until so many spares are whole. */
async function filledWith(count: number): Promise<void> {
  await eventually(async () => {
    await world.advance(spareLimits.restMs);
    expect(spareNames()).toHaveLength(count);
  });
  await spares.settled();
}

/** An allocation and its task take one each. */
const filled = (allocations: number) => filledWith(2 * allocations);

function tree(root: string): Record<string, string> {
  const paths = ['', ...readdirSync(root, { recursive: true }).map(String)].sort();
  return Object.fromEntries(
    paths.map((path) => {
      const { mode, uid, gid } = lstatSync(join(root, path));
      return [path, `${(mode & 0o7777).toString(8)} ${uid} ${gid}`];
    }),
  );
}

test.each([false, true])('a spare is like new directories, with an owner: %s', async (hasOwner) => {
  await begin('a');
  await filled(1);
  const [inode] = spareNames().map((name) => lstatSync(join(dataDirectory, 'spare', name)).ino);
  const taken = await begin('b', files, hasOwner);
  expect(lstatSync(taken).ino).toBe(inode);
  expect(spareNames()).toEqual([]);
  expect(tree(taken)).toEqual(tree(await begin('c', filesOnDisk, hasOwner)));
});

test('spares are made once nothing begins, as many as starts have made themselves', async () => {
  await begin('a');
  await begin('b');
  await world.advance(spareLimits.restMs - 1);
  await begin('c');
  await world.advance(spareLimits.restMs - 1);
  expect(spareNames()).toEqual([]);
  await filled(3);
  // The next run of a task finds its directories.
  const paths = taskDirectories(allocationDirectories(dataDirectory, 'a'), 'app');
  expect(await files.makeTaskDirectories(paths, undefined)).toBe(false);
  await world.advance(spareLimits.restMs);
  await spares.settled();
  expect(spareNames()).toHaveLength(6);
});

test('there are never more than so many', async () => {
  for (let at = 0; at < spareLimits.keptMax + 2; at++) spares.takeFile();
  await filledWith(spareLimits.keptMax);
  expect(spareNames()).toHaveLength(spareLimits.keptMax);
});

test('nobody else reaches a spare, and those of an earlier agent are removed', async () => {
  mkdirSync(join(dataDirectory, 'spare', '0', 'alloc'), { recursive: true });
  writeFileSync(join(dataDirectory, 'spare', '0', 'alloc', 'planted'), '');
  chmodSync(join(dataDirectory, 'spare'), 0o755);
  await begin('a');
  await filled(1);
  expect(lstatSync(join(dataDirectory, 'spare')).mode & 0o777).toBe(0o700);
  const taken = await begin('b');
  expect(existsSync(join(taken, 'alloc', 'planted'))).toBe(false);
});

test('a path that is taken keeps its directories, and the spare stays', async () => {
  const root = await begin('a');
  writeFileSync(join(root, 'app', 'local', 'file'), '');
  await filled(1);
  await files.makeDirectories(allocationDirectories(dataDirectory, 'a'));
  expect(existsSync(join(root, 'app', 'local', 'file'))).toBe(true);
  expect(spareNames()).toHaveLength(2);
});

test('an agent that ends makes none', async () => {
  await begin('a');
  await spares.close();
  await begin('b');
  await world.advance(spareLimits.restMs);
  await spares.settled();
  expect(spareNames()).toEqual([]);
});

test('a record takes a file that was made before, and does without it once that is gone', async () => {
  const { timers } = world;
  const onError = (error: Error) => expect.fail(error.message);
  const text = () => `${++versions}`;
  let versions = 0;
  const record = files.newRecord({ dataDirectory, id: 'a', text, timers, onError });
  mkdirSync(savedAllocationsDirectory(dataDirectory));
  await record.save();
  await filledWith(1);
  const path = savedAllocationPath(dataDirectory, 'a');
  const { ino } = lstatSync(join(dataDirectory, 'spare', spareNames()[0]!));
  await record.save();
  const { ino: taken, mode } = lstatSync(path);
  expect([taken, mode & 0o777]).toEqual([ino, 0o600]);
  await filledWith(1);
  await rm(join(dataDirectory, 'spare'), { recursive: true });
  await record.save();
  expect(readFileSync(path, 'utf8')).toBe(String(versions));
  record.close();
});
