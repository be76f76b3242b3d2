import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { realWorld } from '../../base/ports-real.ts';
import { seededRandom } from '../../base/ports-simulated.ts';
import {
  DataDirectoryFull,
  DataDirectoryInUse,
  DataDirectoryUnusable,
  StateCorrupted,
  StateError,
  StateFormatUnknown,
  WritesClosed,
} from '../errors.ts';
import { dump, item, items, others, tables } from '../items.test-helper.ts';
import type { StateLimits } from '../limits.ts';
import { openState } from '../state.ts';
import type { State } from '../types.ts';
import type { Engine } from './engine.ts';
import { filesOf, SameThreadEngine, Scratch } from './sqlite.test-helper.ts';
import { SqliteEngine } from './sqlite.ts';

const scratch = new Scratch();
afterAll(() => scratch.end());

function open(engine: Engine, limits: Partial<StateLimits> = {}): Promise<State> {
  return openState({ tables, engine, timers: realWorld.timers, freeze: true, limits });
}

const openIn = (directory: string, limits?: Partial<StateLimits>) =>
  open(new SqliteEngine({ directory }), limits);

async function put(state: State, ...names: string[]): Promise<void> {
  await Promise.all(
    names.map((name) => state.write((t) => t.table(items).put(item(name, { Color: 'red' })))),
  );
}

test('rows are there after a restart, in files for the owner alone', async () => {
  const directory = join(scratch.next(), 'made', 'on', 'the', 'way');
  const state = await openIn(directory);
  await put(state, 'a', 'b', 'c');
  await state.write((t) => t.table(items).delete('s', 'b'));
  const was = dump(state.read());
  expect(readFileSync(join(directory, 'state.pid'), 'utf8')).toBe(`${process.pid}\n`);
  for (const file of filesOf(directory)) {
    expect([file, statSync(join(directory, file)).mode & 0o777]).toEqual([file, 0o600]);
  }
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  await state.close();
  const again = await openIn(directory);
  expect(dump(again.read())).toEqual(was);
  await put(again, 'd');
  expect(again.read().index).toBe(5);
  await again.close();
  expect(filesOf(directory)).toEqual(['state.acknowledged', 'state.db']);
});

test('a snapshot takes the place of the log that it covers', async () => {
  const directory = scratch.next();
  const limits = { logBytes: 20_000, logPerSnapshot: 0, snapshotPartBytes: 1_000 };
  const state = await openIn(directory, limits);
  for (let round = 0; round < 40; round++) {
    await put(state, ...Array.from({ length: 20 }, (_, number) => `row-${(round + number) % 50}`));
    if (round % 2 === 0) await state.write((t) => t.table(items).delete('s', `row-${round}`));
  }
  const was = dump(state.read());
  await state.close();
  const database = new DatabaseSync(join(directory, 'state.db'));
  const { first } = database.prepare('SELECT min(sequence) AS first FROM log').get() as never;
  const { parts } = database.prepare('SELECT count(*) AS parts FROM part').get() as never;
  database.close();
  expect(first).toBeGreaterThan(1);
  expect(parts).toBeGreaterThan(1);
  const again = await openIn(directory, limits);
  expect(dump(again.read())).toEqual(was);
  await again.close();
});

test('a second agent on the directory is refused, and told the process that holds it', async () => {
  const directory = scratch.next();
  const state = await openIn(directory);
  const second = openIn(directory);
  await expect(second).rejects.toBeInstanceOf(DataDirectoryInUse);
  await expect(second).rejects.toThrow(`is in use by another process (pid ${process.pid})`);
  await put(state, 'a');
  await state.close();
  const third = await openIn(directory);
  expect(third.read().index).toBe(1);
  await third.close();
});

test('a full disk: a clear refusal, reads go on, nothing acknowledged is lost', async () => {
  const directory = scratch.next();
  const state = await open(new SqliteEngine({ directory, maxPages: 40 }));
  let acknowledged = 0;
  const filled = (async () => {
    for (;;) {
      const filler = item(`row-${acknowledged}`, { Color: 'x'.repeat(5_000) });
      await state.write((t) => t.table(items).put(filler));
      acknowledged++;
    }
  })();
  await expect(filled).rejects.toBeInstanceOf(WritesClosed);
  expect(state.closed?.cause).toBeInstanceOf(DataDirectoryFull);
  expect(state.closed?.message).toContain('no space is left');
  expect(acknowledged).toBeGreaterThan(5);
  expect(state.read().table(items).size).toBe(acknowledged);
  const was = dump(state.read());
  await state.close();
  const again = await openIn(directory);
  expect(dump(again.read())).toEqual(was);
  await put(again, 'a');
  await again.close();
});

test.each<[string, (directory: string) => void, typeof StateError | typeof StateCorrupted, string]>(
  [
    [
      'a file in its place',
      (path) => writeFileSync(path, ''),
      DataDirectoryUnusable,
      'not a directory',
    ],
    [
      'a directory as database',
      (path) => mkdirSync(join(path, 'state.db'), { recursive: true }),
      DataDirectoryUnusable,
      'unable to open',
    ],
    ['another file as database', (path) => other(path), StateCorrupted, 'not a database'],
    [
      'an illegible end',
      (path) => writeFileSync(join(path, 'state.acknowledged'), 'x'),
      StateCorrupted,
      'delete it',
    ],
    ['a newer format', (path) => newer(path), StateFormatUnknown as never, 'has format 7'],
    ['no database', (path) => rmSync(join(path, 'state.db')), StateCorrupted, 'lacks its tables'],
  ],
)('refused and named: %s', async (name, damage, kind, message) => {
  const directory = scratch.next();
  if (name !== 'a file in its place' && name !== 'a directory as database') {
    const state = await openIn(directory);
    await put(state, 'a');
    await state.close();
  }
  damage(directory);
  const opened = openIn(directory);
  await expect(opened).rejects.toThrow(message);
  await expect(opened).rejects.toBeInstanceOf(kind);
  await expect(opened).rejects.toThrow(directory);
});

function other(directory: string): void {
  writeFileSync(join(directory, 'state.db'), 'something else'.repeat(1_000));
}

function newer(directory: string): void {
  const database = new DatabaseSync(join(directory, 'state.db'));
  const body = '{"Format":7}';
  database.prepare('UPDATE meta SET body = ?, checksum = ?').run(body, crc32(`1:${body}`));
  database.close();
}

test('a store of a later program is refused by table and version, with the program that wrote it', async () => {
  const directory = scratch.next();
  const later = { ...items, version: 2 };
  const openAs = (program: string, all: typeof tables) =>
    openState({
      tables: all,
      engine: new SqliteEngine({ directory, program }),
      timers: realWorld.timers,
    });
  const state = await openAs('2.0.0', [later, others]);
  await state.write((transaction) => transaction.table(later).put(item('a')));
  await state.close();
  // An earlier program leaves no trace when it only tries.
  for (let attempt = 0; attempt < 2; attempt++) {
    const refused = openAs('1.0.0', tables);
    await expect(refused).rejects.toBeInstanceOf(StateFormatUnknown);
    await expect(refused).rejects.toThrow(
      'the stored table items has version 2; this program knows up to 1. Roster 2.0.0 wrote it: start that version',
    );
  }
  await (await openAs('2.0.1', [later, others])).close();
});

test('a directory that cannot be made is named', async () => {
  const opened = openIn('/proc/roster/state');
  await expect(opened).rejects.toBeInstanceOf(DataDirectoryUnusable);
});

test('an empty state.acknowledged, as a kill at the start left it, does not keep the state from opening', async () => {
  const directory = scratch.next();
  const state = await openIn(directory);
  await put(state, 'a');
  await state.close();
  writeFileSync(join(directory, 'state.acknowledged'), '');
  const again = await openIn(directory);
  expect(again.read().table(items).size).toBe(1);
  await again.close();
});

test('without state.acknowledged the state opens as far as its log goes', async () => {
  const directory = scratch.next();
  const state = await openIn(directory);
  await put(state, 'a');
  const half = scratch.copyOf(directory);
  await put(state, 'b');
  await state.close();
  writeFileSync(
    join(half, 'state.acknowledged'),
    readFileSync(join(directory, 'state.acknowledged')),
  );
  await expect(openIn(half)).rejects.toThrow('but batch 2 was acknowledged');
  rmSync(join(half, 'state.acknowledged'));
  const again = await openIn(half);
  expect(again.read().index).toBe(1);
  await again.close();
});

const faultsPerFile = 100;

/** A store as a crash leaves it, with rows in the database and more rows in its write-ahead log. */
async function crashed(
  limits: Partial<StateLimits>,
  checkpointPages: number,
): Promise<{ directory: string; was: unknown }> {
  const live = scratch.next();
  const options = { directory: live, checkpointPages };
  const first = await open(new SameThreadEngine(options), limits);
  for (let number = 0; number < 12; number++) await put(first, `a-${number}`, `b-${number}`);
  await first.write((t) => t.table(items).delete('s', 'a-3'));
  await first.close();
  const second = await open(new SameThreadEngine(options), limits);
  for (let number = 0; number < 12; number++) await put(second, `a-${number}`, `c-${number}`);
  await second.write((t) => t.table(items).delete('s', 'a-4'));
  await new Promise<void>((resolve) => realWorld.timers.soon(resolve));
  const directory = scratch.copyOf(live);
  const was = dump(second.read());
  await second.close();
  return { directory, was };
}

test.each([
  ['a log', {}, 4_000, 1],
  ['a log amid checkpoints', {}, 20, 2],
  ['snapshots', { logBytes: 1_500, logPerSnapshot: 0, snapshotPartBytes: 500 }, 4_000, 3],
  ['snapshots amid checkpoints', { logBytes: 1_500, logPerSnapshot: 0 }, 7, 4],
])(
  'a flipped bit or a cut file leads to the exact state or to a named error: %s',
  async (_, limits, pages, seed) => {
    const { directory, was } = await crashed(limits, pages);
    const random = seededRandom(seed);
    const outcomes = new Map<string, number>();
    for (const file of filesOf(directory).filter((name) => name !== 'state.pid')) {
      const { size } = statSync(join(directory, file));
      const tries = file === 'state.acknowledged' ? 40 : faultsPerFile;
      for (let attempt = 0; attempt < tries; attempt++) {
        const position = random.below(size);
        const copy = scratch.copyOf(directory);
        const path = join(copy, file);
        if (attempt % 4 === 0) truncateSync(path, position);
        else flip(path, position, random.below(8));
        const found = await outcome(copy);
        const what = `${attempt % 4 === 0 ? 'cut' : 'flip'} of ${file} at ${position}`;
        if (typeof found !== 'string') expect(found, what).toEqual(was);
        const kind = typeof found === 'string' ? found : 'exact';
        outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
        rmSync(copy, { recursive: true });
      }
    }
    // If either were rare, the faults would miss the bytes that matter.
    expect([...outcomes.keys()].sort()).toEqual(['exact', 'state-corrupted']);
    expect(Math.min(...outcomes.values())).toBeGreaterThan(20);
  },
  60_000,
);

/** The content of the state that opens, or the code of the error. */
async function outcome(directory: string): Promise<unknown> {
  try {
    const state = await open(new SameThreadEngine({ directory }));
    const found = dump(state.read());
    await state.close();
    return found;
  } catch (error) {
    if (error instanceof StateError) return error.code;
    throw error;
  }
}

function flip(path: string, position: number, bit: number): void {
  const bytes = readFileSync(path);
  bytes[position]! ^= 1 << bit;
  writeFileSync(path, bytes);
}

test('kill -9 loses no acknowledged write', async () => {
  const directory = scratch.next();
  const random = seededRandom(9);
  let least = 0;
  for (let round = 0; round < 4; round++) {
    const child = fork(new URL('./sqlite-crash.test-helper.ts', import.meta.url), [directory], {
      execArgv: [],
    });
    const enough = least + 100 + random.below(3_000);
    child.on('message', (acknowledged: number) => {
      least = Math.max(least, acknowledged);
      if (acknowledged >= enough) child.kill('SIGKILL');
    });
    await once(child, 'exit');
    const state = await openIn(directory);
    const rows = [...state.read().table(items).scan()];
    expect(rows.length).toBe(state.read().index);
    expect(rows.length).toBeGreaterThanOrEqual(least);
    least = rows.length;
    await state.close();
  }
  expect(least).toBeGreaterThan(400);
}, 60_000);
