import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../base/ports-simulated.ts';
import { SameThreadEngine, Scratch } from '../engine/sqlite.test-helper.ts';
import { DataDirectoryInUse } from '../errors.ts';
import {
  differing,
  editFile,
  examined,
  type History,
  invented,
  makeHistory,
  unnamed,
} from './damage.test-helper.ts';

const scratch = new Scratch();
afterAll(() => scratch.end());

let history: History;
beforeAll(async () => {
  history = await makeHistory(scratch, 1);
});

/** A copy of the store with some damage. */
function damaged(damage: (directory: string) => void, from = history.directory): string {
  const directory = scratch.copyOf(from);
  damage(directory);
  return directory;
}

/** The same, changed through SQLite, as no fault of a disk would. */
const edited = (run: (database: DatabaseSync) => void): string =>
  damaged((directory) => {
    const database = new DatabaseSync(join(directory, 'state.db'));
    run(database);
    database.close();
  });

test('a sound store has no fault, and stays as it is to the last byte', async () => {
  const files = ['state.db', 'state.db-wal', 'state.acknowledged'];
  const bytes = () => files.map((file) => readFileSync(join(history.directory, file), 'latin1'));
  const before = bytes();
  const found = await examined(history.directory);
  expect(found.damage).toEqual([]);
  expect(found.losses.isEmpty).toBe(true);
  expect(found.view.index).toBe(history.index);
  expect(differing(history.rows, found)).toEqual([]);
  expect(bytes()).toEqual(before);
});

test('a store that a process holds is refused', async () => {
  const engine = new SameThreadEngine({ directory: scratch.copyOf(history.directory) });
  for await (const _ of engine.load()) break;
  const { directory } = engine.options;
  await expect(examined(directory)).rejects.toBeInstanceOf(DataDirectoryInUse);
  await engine.close();
});

describe('damage of the structure loses nothing', () => {
  test.each<[string, (directory: string) => void]>([
    ['the header of the file', (path) => editFile(path, 'state.db', filled(0, 60))],
    ['the schema', (path) => editFile(path, 'state.db', filled(3_000, 900))],
  ])('%s', async (_, damage) => {
    const found = await examined(damaged(damage, history.closed));
    expect(found.damage.length).toBeGreaterThan(0);
    expect(differing(history.rows, found)).toEqual([]);
    expect(found.losses.isEmpty).toBe(true);
  });
});

const filled = (from: number, length: number) => (bytes: Buffer) =>
  bytes.fill(0x5a, from, from + length);

test('a missing write-ahead log: the lost batches are named, up to the last acknowledged one', async () => {
  const found = await examined(damaged((path) => rmSync(join(path, 'state.db-wal'))));
  expect(found.view.index).toBeLessThan(history.index);
  expect(found.losses.pieces).toEqual([
    { at: expect.stringMatching(/^batch(es)? .* of the log$/), fromIndex: found.view.index + 1 },
  ]);
  expect(unnamed(history.rows, found)).toEqual([]);
});

test('a batch in the middle: the state before it, and every row after it by name', async () => {
  const directory = edited((database) => {
    const { at } = database.prepare('SELECT max(sequence) - 3 AS at FROM log').get() as never;
    const bytes = database.prepare('SELECT bytes FROM log WHERE sequence = ?').get(at)!
      .bytes as Uint8Array;
    bytes[bytes.length - 3]! ^= 1;
    database.prepare('UPDATE log SET bytes = ? WHERE sequence = ?').run(bytes, at);
  });
  const found = await examined(directory);
  const { rows, pieces } = found.losses;
  expect(found.view.index).toBe(history.index - 4);
  expect(pieces).toHaveLength(1);
  expect(found.lastIndex).toBe(history.index);
  expect(unnamed(history.rows, found)).toEqual([]);
  const certain = rows.filter(({ isCertain }) => isCertain);
  expect(new Set(certain.map(({ index }) => index))).toEqual(
    new Set([history.index - 2, history.index - 1, history.index]),
  );
  // Of the damaged batch the names can still be read.
  expect(rows.some(({ isCertain }) => !isCertain)).toBe(true);
});

test('a part of the snapshot: the rows of other parts are there', async () => {
  // Wherever the row stands, also in pages that are free again.
  const rename = (bytes: Buffer) =>
    Buffer.from(bytes.toString('latin1').replaceAll('unchanged-17', 'unchanged-Z7'), 'latin1');
  const directory = damaged((path) => editFile(path, 'state.db', rename), history.closed);
  const found = await examined(directory);
  expect(found.losses.pieces).toHaveLength(1);
  expect(unnamed(history.rows, found)).toEqual([]);
  expect(found.view.index).toBe(history.index);
  const lost = differing(history.rows, found);
  expect(lost).toContain('["namespaces",["default","unchanged-17"]]');
  expect(lost.length).toBeLessThan(5);
  expect(lost.every((name) => name.includes('unchanged'))).toBe(true);
});

test('rows that were written as differences from lost rows are lost as well, and never made up', async () => {
  const rename = (bytes: Buffer) =>
    Buffer.from(bytes.toString('latin1').replaceAll('still-40', 'still-Z0'), 'latin1');
  const directory = damaged((path) => editFile(path, 'state.db', rename), history.closed);
  const found = await examined(directory);
  expect(found.view.index).toBe(history.index);
  expect(invented(history, found)).toEqual([]);
  expect(unnamed(history.rows, found)).toEqual([]);
  const lost = found.losses.rows.filter(({ isCertain }) => isCertain);
  expect(lost.some(({ key }) => key.join().includes('still-69'))).toBe(true);
  expect(differing(history.rows, found).some((name) => name.includes('still-10'))).toBe(false);
});

test('a row that does not decode is lost alone', async () => {
  const directory = edited((database) => {
    const row = database.prepare('SELECT * FROM log ORDER BY sequence DESC LIMIT 1').get()!;
    const text = Buffer.from(row.bytes as Uint8Array).toString();
    const bytes = Buffer.from(text.replace(/"ModifyIndex":\d+(?=\}\]\]\]$)/, '"ModifyIndex":{}'));
    const head = `${row.sequence}:${row.first_index}:${row.last_index}`;
    const checksum = crc32(bytes, crc32(head));
    database
      .prepare('UPDATE log SET bytes = ?, checksum = ? WHERE sequence = ?')
      .run(bytes, checksum, row.sequence!);
  });
  const found = await examined(directory);
  expect(found.damage).toHaveLength(1);
  expect(found.losses.rows).toHaveLength(1);
  expect(differing(history.rows, found)).toHaveLength(1);
  expect(unnamed(history.rows, found)).toEqual([]);
});

test('an older snapshot with a newer log, as a crash after the newer snapshot leaves them', async () => {
  const directory = edited((database) => {
    // The record of the snapshot is lost. The log behind it was never cut.
    database.exec('DELETE FROM meta WHERE id = 2');
  });
  const found = await examined(directory);
  expect(found.damage.length).toBeGreaterThan(0);
  expect(differing(history.rows, found)).toEqual([]);
});

test('without state.acknowledged nobody knows how far the log went, and the report says so', async () => {
  const found = await examined(damaged((path) => rmSync(join(path, 'state.acknowledged'))));
  expect(differing(history.rows, found)).toEqual([]);
  expect(found.losses.pieces.map(({ at }) => at)).toEqual([
    'the end of the log, which is not known',
  ]);
});

test('random damage is found or does not matter, and no row is lost without a name', async () => {
  const outcomes = { sound: 0, whole: 0, lossy: 0 };
  for (const seed of [1, 2, 3, 4]) {
    const random = seededRandom(seed);
    const made = await makeHistory(scratch, seed, random.below(40));
    const { directory, closed, rows } = made;
    for (let attempt = 0; attempt < 30; attempt++) {
      const copy = scratch.copyOf(attempt % 2 === 0 ? directory : closed);
      const hurt = `${hurtRandomly(copy, random)}, seed ${seed}`;
      const found = await examined(copy);
      const isSound = found.damage.length === 0;
      if (isSound) expect(differing(rows, found), hurt).toEqual([]);
      expect(unnamed(rows, found), hurt).toEqual([]);
      expect(invented(made, found), hurt).toEqual([]);
      outcomes[isSound ? 'sound' : found.losses.isEmpty ? 'whole' : 'lossy']++;
      rmSync(copy, { recursive: true });
    }
  }
  // If one of them were rare, the damage would miss the bytes that matter.
  expect(Math.min(...Object.values(outcomes)), JSON.stringify(outcomes)).toBeGreaterThan(4);
}, 60_000);

/** Flips a bit, overwrites a piece, or cuts a file. Returns what it did. */
function hurtRandomly(directory: string, random: ReturnType<typeof seededRandom>): string {
  const files = readdirSync(directory).filter((name) => name !== 'state.pid');
  const file = files[random.below(files.length)]!;
  const path = join(directory, file);
  const at = random.below(statSync(path).size);
  const bytes = readFileSync(path);
  const kind = random.below(4);
  if (kind === 0) writeFileSync(path, bytes.subarray(0, at));
  else if (kind === 1)
    writeFileSync(
      path,
      bytes.fill(random.below(256), at, Math.min(bytes.length, at + random.below(9_000))),
    );
  else {
    bytes[at]! ^= 1 << random.below(8);
    writeFileSync(path, bytes);
  }
  return `${['cut', 'overwritten', 'flipped', 'flipped'][kind]} ${file} at ${at}`;
}
