import { expect, test } from 'vitest';
import { contentsOf } from './contents.ts';
import { SnapshotReader, SnapshotWriter } from './snapshot-file.ts';
import { isSnapshotName, type SnapshotHeader, savedMsIn, snapshotName } from './snapshot-header.ts';

const header: SnapshotHeader = {
  Format: 1,
  Version: '1.2.3',
  ClusterID: 'c1',
  Index: 42,
  CreateTime: Date.UTC(2026, 0, 2, 3, 4, 5) * 1e6,
  Tables: [
    { Name: 'jobs', Version: 2, Rows: 3 },
    { Name: 'nodes', Version: 2, Rows: 0 },
  ],
};

const rows = (Table: string, ids: readonly string[]) =>
  Buffer.from(JSON.stringify({ Table, Version: 2, Rows: ids.map((ID) => ({ ID })) }));

function file(head: object = header): Buffer {
  const writer = new SnapshotWriter();
  return Buffer.concat([
    writer.begin(head as SnapshotHeader),
    writer.rows(rows('jobs', ['a', 'b'])),
    writer.rows(rows('jobs', ['c'])),
    writer.rows(rows('nodes', [])),
    writer.end(),
  ]);
}

async function* inPieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += length) yield bytes.subarray(at, at + length);
}

const read = (bytes: Uint8Array, length = bytes.byteLength) => contentsOf(inPieces(bytes, length));
const codeOf = (bytes: Uint8Array) =>
  read(bytes).then(
    () => 'read',
    ({ code }) => code,
  );

test.each([1, 2, 7, 100, 10_000])('a file reads back in pieces of %i bytes', async (length) => {
  const contents = await read(file(), length);
  expect(contents.header).toEqual(header);
  expect(contents.tables.map(({ Name, Rows }) => [Name, Rows])).toEqual([
    ['jobs', 3],
    ['nodes', 0],
  ]);
  expect(contents.checksum).toMatch(/^[0-9a-f]{64}$/);
});

test('a file that is cut off anywhere is refused', async () => {
  const whole = file();
  for (let length = 0; length < whole.byteLength; length++) {
    expect(await codeOf(whole.subarray(0, length)), `${length} bytes`).toBe('snapshot-damaged');
  }
});

test('a file with any bit inverted is refused', async () => {
  const whole = file();
  for (let at = 0; at < whole.byteLength * 8; at++) {
    const damaged = Uint8Array.from(whole);
    damaged[at >> 3]! ^= 1 << (at & 7);
    expect(await codeOf(damaged), `bit ${at}`).toMatch(/^snapshot-(damaged|too-new)$/);
  }
});

test('bytes after the end are refused, also in a later piece', async () => {
  expect(await codeOf(Buffer.concat([file(), Buffer.from('x')]))).toBe('snapshot-damaged');
  const reader = new SnapshotReader();
  expect([...reader.take(file())].at(-1)?.kind).toBe('end');
  expect(() => [...reader.take(Buffer.from('x'))]).toThrow('it goes on after its end');
});

test('a file of a later format is refused by its number', async () => {
  await expect(read(file({ Format: 2 }))).rejects.toThrow(
    'it has the format 2; this program reads up to format 1',
  );
});

test('a file with other rows than its header says is refused', async () => {
  const Tables = [{ Name: 'jobs', Version: 2, Rows: 4 }];
  await expect(read(file({ ...header, Tables }))).rejects.toThrow('another number of rows');
});

test('names of files are in the order of their times', () => {
  const name = 'roster-20260102T030405Z-42.snapshot';
  expect(snapshotName(header)).toBe(name);
  expect([isSnapshotName(name), savedMsIn(name)]).toEqual([true, header.CreateTime / 1e6]);
  for (const other of [`.${name}`, `${name}.x`, 'roster-1.snapshot', 'notes']) {
    expect(isSnapshotName(other), other).toBe(false);
  }
});
