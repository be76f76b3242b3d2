import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { release } from '../../../base/release.ts';
import { mebibyte } from '../../../base/units.ts';
import type { Bytes } from '../../codec.ts';
import type { CopyRecord, LocalCopy, ReadCopy } from './local-copy.ts';
import { joined } from './log-entry.ts';
import { FrameReader, framed } from './snapshot-form.ts';

/**
 * A copy of the state in a file: a line that names it, a line with its record as JSON, the parts as chunks of
 * etcd have them (`snapshot-form.ts`), and the SHA-256 of all bytes before it.
 *
 * Invariants
 *  C1. The file is replaced as a whole, and only its user may read it.
 *  C2. Nothing of it is used before all of it was read and its hash is right.
 *  C3. Compression, reading and writing are done on other threads than that of the requests.
 */
export function copyFile(path: string): LocalCopy {
  return {
    read: () => readCopy(path),
    async keep(record, parts) {
      const made = `${path}.new`;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rm(made, { force: true });
      const file = await open(made, 'wx', 0o600);
      try {
        await writeCopy(file, record, parts);
        await file.sync();
      } catch (error) {
        await file.close();
        await rm(made, { force: true });
        throw error;
      }
      await file.close();
      await rename(made, path);
    },
  };
}

const firstLine = 'roster copy 1\n';
// Not in limits: the length of a SHA-256.
const hashBytes = 32;
// Not in limits: it only has to be small in memory, and large for a disk.
const pieceBytes = mebibyte;
const compressed = promisify(gzip);

async function writeCopy(
  file: FileHandle,
  record: CopyRecord,
  parts: AsyncIterable<Bytes>,
): Promise<void> {
  const sha256 = createHash('sha256');
  const write = async (bytes: Uint8Array) => {
    sha256.update(bytes);
    await file.writeFile(bytes);
  };
  await write(Buffer.from(`${firstLine}${JSON.stringify(record)}\n`));
  for await (const part of parts) {
    await write(framed(await compressed(part, { level: 1 })));
    release(part);
  }
  await file.writeFile(sha256.digest());
}

async function readCopy(path: string): Promise<ReadCopy | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const end = (await file.stat()).size - hashBytes;
    await requireWhole(file, end);
    const { record, begin } = await headOf(file, end);
    return { record, parts: partsIn(path, { begin, end }) };
  } finally {
    await file.close();
  }
}

async function requireWhole(file: FileHandle, end: number): Promise<void> {
  if (end < 0) throw new Error('it is cut off');
  const sha256 = createHash('sha256');
  for await (const piece of piecesOf(file, { begin: 0, end })) sha256.update(piece);
  const hash = joined(await all(piecesOf(file, { begin: end, end: end + hashBytes })));
  if (Buffer.compare(hash, sha256.digest()) !== 0) throw new Error('it is damaged');
}

async function headOf(file: FileHandle, end: number) {
  const [first = new Uint8Array()] = await all(
    piecesOf(file, { begin: 0, end: Math.min(end, pieceBytes) }),
  );
  const [name, line] = Buffer.from(first).toString('utf8').split('\n', 2);
  if (`${name}\n` !== firstLine || line === undefined) throw new Error('it is of another form');
  const begin = Buffer.byteLength(`${name}\n${line}\n`);
  return { record: JSON.parse(line) as CopyRecord, begin };
}

async function* partsIn(path: string, span: Span): AsyncGenerator<Bytes> {
  const file = await open(path, 'r');
  try {
    const frames = new FrameReader(path);
    for await (const piece of piecesOf(file, span)) yield* frames.read(piece);
    frames.end();
  } finally {
    await file.close();
  }
}

interface Span {
  readonly begin: number;
  readonly end: number;
}

async function* piecesOf(file: FileHandle, { begin, end }: Span): AsyncGenerator<Bytes> {
  for (let at = begin; at < end; ) {
    const length = Math.min(pieceBytes, end - at);
    const { bytesRead, buffer } = await file.read(new Uint8Array(length), 0, length, at);
    if (bytesRead === 0) throw new Error('it is cut off');
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
