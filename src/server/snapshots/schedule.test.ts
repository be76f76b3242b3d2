import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { contentsOf } from '../../model/snapshot/contents.ts';
import { memoryState } from '../../state/state.test-helper.ts';
import { allTables } from '../../state/tables.ts';
import { silentLog } from '../context.ts';
import { snapshotDirectory } from './directory.ts';
import { SnapshotSaver } from './save.ts';
import { SnapshotSchedule, type SnapshotStore } from './schedule.ts';

const minuteMs = 60_000;

/** A store in memory, whose faults may be changed. */
class MemoryStore implements SnapshotStore {
  readonly files = new Map<string, Uint8Array>();
  isFull = false;
  damages = false;

  async list() {
    return [...this.files.keys()];
  }

  async write(name: string, pieces: AsyncIterable<Uint8Array>) {
    const whole: Uint8Array[] = [];
    for await (const piece of pieces) whole.push(piece);
    if (this.isFull) throw new Error('no space is left');
    const bytes = Buffer.concat(whole);
    if (this.damages) bytes[bytes.length >> 1]! ^= 1;
    this.files.set(name, bytes);
  }

  async *read(name: string) {
    yield this.files.get(name)!;
  }

  async remove(name: string) {
    this.files.delete(name);
  }
}

async function begin({ keep = 3, store = new MemoryStore(), world = new SimulatedWorld(1) } = {}) {
  const state = await memoryState(allTables, world);
  const errors: string[] = [];
  const log = { ...silentLog, error: (_: object, sentence: string) => errors.push(sentence) };
  const settings = { store, keep, intervalMs: 10 * minuteMs };
  const saver = new SnapshotSaver({ state, world }, '1.0.0');
  const schedule = new SnapshotSchedule({ state, world, log }, saver, settings);
  schedule.start();
  await world.advance(0);
  return { world, state, store, schedule, errors, names: () => [...store.files.keys()] };
}

const name = (time: string) => `roster-20260101T${time}Z-0.snapshot`;

test('a snapshot is saved at once, then each interval, and the newest are kept', async () => {
  const { world, store, names, schedule } = await begin();
  expect(names()).toEqual([name('000000')]);
  await world.advance(25 * minuteMs);
  expect(names()).toEqual(['000000', '001000', '002000'].map(name));
  await world.advance(10 * minuteMs);
  expect(names()).toEqual(['001000', '002000', '003000'].map(name));
  expect(schedule.savedMs).toBe(Date.UTC(2026, 0, 1, 0, 30));
  for (const bytes of store.files.values()) {
    const { header } = await contentsOf(
      (async function* () {
        yield bytes;
      })(),
    );
    expect(header.Version).toBe('1.0.0');
  }
});

test('a restart waits for the rest of the interval', async () => {
  const { world, store, schedule } = await begin();
  await world.advance(4 * minuteMs);
  schedule.stop();
  const next = await begin({ store, world });
  expect(next.names()).toEqual([name('000000')]);
  await world.advance(6 * minuteMs);
  expect(next.names()).toEqual([name('000000'), name('001000')]);
});

test('a failure is told and counted, removes nothing, and is tried again', async () => {
  const { world, store, names, schedule, errors } = await begin({ keep: 1 });
  store.isFull = true;
  await world.advance(10 * minuteMs);
  expect(names()).toEqual([name('000000')]);
  expect([schedule.failures, errors]).toEqual([1, ['a snapshot on schedule failed']]);
  store.isFull = false;
  await world.advance(10 * minuteMs);
  expect(names()).toEqual([name('002000')]);
});

test('a file that does not read back whole does not count, and is removed', async () => {
  const { world, store, names, schedule } = await begin({ keep: 1 });
  store.damages = true;
  await world.advance(10 * minuteMs);
  expect(names()).toEqual([name('000000')]);
  expect([schedule.failures, schedule.savedMs]).toEqual([1, Date.UTC(2026, 0, 1)]);
});

test('files with other names are left alone', async () => {
  const store = new MemoryStore();
  const others = ['notes', 'roster-before.snapshot', `${name('000000')}.part`];
  for (const other of others) store.files.set(other, new Uint8Array());
  const { world, names } = await begin({ keep: 1, store });
  await world.advance(30 * minuteMs);
  expect(names()).toEqual([...others, name('003000')]);
});

test('a server that leads no more saves nothing', async () => {
  const { world, names, schedule } = await begin();
  schedule.stop();
  await world.advance(60 * minuteMs);
  expect(names()).toEqual([name('000000')]);
  expect(world.pendingTimers).toBe(0);
});

test('a file in a directory is for its user alone, and a failed one leaves nothing', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'roster-snapshots-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const inside = join(directory, 'kept');
  const store = snapshotDirectory(inside, new SimulatedWorld(1).ids);
  expect(await store.list()).toEqual([]);
  async function* pieces(fails: boolean) {
    yield Buffer.from('a piece');
    if (fails) throw new Error('no more');
  }
  await store.write('a', pieces(false));
  await expect(store.write('b', pieces(true))).rejects.toThrow('no more');
  expect(readdirSync(inside)).toEqual(['a']);
  expect(statSync(join(inside, 'a')).mode & 0o777).toBe(0o600);
  const read: Uint8Array[] = [];
  for await (const piece of store.read('a')) read.push(piece);
  expect(Buffer.concat(read).toString()).toBe('a piece');
  writeFileSync(join(inside, 'c'), '');
  await store.remove('a');
  expect(await store.list()).toEqual(['c']);
});
