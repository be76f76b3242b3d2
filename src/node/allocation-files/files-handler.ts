import type { FileHandle } from 'node:fs/promises';
import type { Timers } from '../../base/ports.ts';
import type { FileFrame } from '../../model/allocation/file-info.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { type ByteStream, StreamFault } from '../../model/node-stream/byte-stream.ts';
import type { StreamHandler } from '../../model/node-stream/stream-connection.ts';
import type { Defences } from '../defences.ts';
import { contentTypeLimits } from '../limits.ts';
import {
  allocationNotHere,
  Counted,
  streamRefusal,
  writeHead,
  writeText,
} from '../stream-answer.ts';
import { type StreamParams, streamParams } from '../stream-params.ts';
import { contentType } from './content-type.ts';
import { type FilePiece, followFile } from './file-follower.ts';
import { fileInfo, unfitReason } from './file-info.ts';
import { listDirectory } from './list-directory.ts';
import { type Found, openToRead, WalkFailure, type WalkFault, walk } from './path-walk.ts';
import { PieceReader, readPiece } from './read-piece.ts';

export interface FilesHandlerOptions {
  readonly defences?: Defences | undefined;
  readonly timers: Timers;
  /** The directory of an allocation's files; `undefined`: the allocation is not on this node. */
  readonly root: (allocId: string) => string | undefined;
}

interface Wish {
  readonly allocId: string;
  readonly root: string;
  readonly path: string;
  readonly params: StreamParams;
}

type Act = (stream: ByteStream, found: Found, wish: Wish) => Promise<void>;

/**
 * Streams of the kind `files`, with `alloc_id`, `path` and `op`, which is one of the operations
 * below with its own parameters. After the head follow: JSON for `ls` (with `next` in the head) and
 * `stat`; bytes for `cat` and `readat`; frames for `stream`. Source:
 * docs/guides/logs-and-files.md#over-http.
 */
export function filesHandler({ timers, root, defences }: FilesHandlerOptions): StreamHandler {
  const followers = new Counted();
  const acts: Readonly<Record<string, Act>> = {
    ls: list,
    stat: tellStat,
    cat: (stream, found, wish) => copy(stream, found, wish, { offset: 0 }),
    readat: (stream, found, wish) => {
      const [offset, most] = [wish.params.whole('offset'), wish.params.whole('limit')];
      return copy(stream, found, wish, { offset, most });
    },
    stream: (stream, found, wish) =>
      followers.during(
        wish.allocId,
        limits.files.followersPerAllocationMax,
        () => tooMany(wish.allocId),
        () => sendFrames(stream, found, wish, timers),
      ),
  };
  return async (stream, given) => {
    const params = streamParams(given);
    const allocId = params.text('alloc_id');
    const directory = root(allocId);
    if (directory === undefined) throw allocationNotHere(allocId);
    const op = params.text('op');
    const act = Object.hasOwn(acts, op) ? acts[op] : undefined;
    if (act === undefined)
      throw streamRefusal(refusal('malformed-request', { reason: `There is no "${op}".` }));
    const wish = { allocId, root: directory, path: params.text('path'), params };
    await explained(wish, async () => {
      const found = await walk(directory, wish.path, defences);
      try {
        await act(stream, found, wish);
      } finally {
        await found.handle.close();
      }
    });
  };
}

async function list(stream: ByteStream, found: Found, wish: Wish): Promise<void> {
  if (!found.stats.isDirectory()) throw unfit(wish, 'it is no directory');
  const { params } = wish;
  const most = Math.min(params.whole('most') || limits.files.listedMax, limits.files.listedMax);
  const page = await listDirectory(found, { from: params.optional('from'), most });
  if (page === undefined) throw unfit(wish, `it holds more than ${limits.files.namesMax} files`);
  await writeHead(stream, { next: page.next });
  await writeText(stream, JSON.stringify(page.files));
}

async function tellStat(stream: ByteStream, found: Found): Promise<void> {
  const info = fileInfo(found.names.at(-1) ?? '/', found.stats);
  const type = found.stats.isFile() ? { ContentType: await typeOf(found) } : {};
  await writeHead(stream);
  await writeText(stream, JSON.stringify({ ...info, ...type }));
}

async function typeOf(found: Found): Promise<string> {
  const file = await openToRead(found);
  try {
    return contentType(await readPiece(file, 0, contentTypeLimits.sniffedBytes));
  } finally {
    await file.close();
  }
}

/** A growing file is read up to the size that it had at the beginning. */
async function copy(
  stream: ByteStream,
  found: Found,
  wish: Wish,
  { offset, most = Number.POSITIVE_INFINITY }: { readonly offset: number; readonly most?: number },
): Promise<void> {
  const file = await openFile(found, wish);
  try {
    const end = Math.min((await file.stat()).size, offset + most);
    await writeHead(stream);
    const pieces = new PieceReader();
    for (let at = offset; at < end; ) {
      const piece = await pieces.read(file, at, end - at);
      if (piece.length === 0) return;
      await stream.write(piece);
      at += piece.length;
    }
  } finally {
    await file.close();
  }
}

async function sendFrames(
  stream: ByteStream,
  found: Found,
  wish: Wish,
  timers: Timers,
): Promise<void> {
  const { params, root, path } = wish;
  const query = {
    origin: params.choice('origin', ['start', 'end']),
    offset: params.whole('offset'),
    follow: params.flag('follow'),
  };
  const file = await openFile(found, wish);
  const pieces = followFile({
    ...query,
    file,
    open: () => openAgain(root, path),
    signal: stream.signal,
    timers,
  });
  const name = found.names.join('/');
  await writeHead(stream);
  for await (const piece of pieces) {
    await writeText(stream, `${JSON.stringify(frameOf(name, piece))}\n`);
  }
}

const frameOf = (File: string, piece: FilePiece | undefined): FileFrame =>
  piece === undefined
    ? {}
    : {
        File,
        Offset: piece.offset,
        ...(piece.data.length > 0 && { Data: Buffer.from(piece.data).toString('base64') }),
        ...(piece.event && { FileEvent: piece.event }),
      };

/** @throws StreamFault when it is no plain file; then it is not even opened */
async function openFile(found: Found, wish: Wish): Promise<FileHandle> {
  const reason = unfitReason(found.stats);
  if (reason !== undefined) throw unfit(wish, reason);
  return openToRead(found);
}

/** The file that is at the path now; `undefined` when there is no readable file. */
async function openAgain(root: string, path: string): Promise<FileHandle | undefined> {
  try {
    const found = await walk(root, path);
    try {
      return unfitReason(found.stats) === undefined ? await openToRead(found) : undefined;
    } finally {
      await found.handle.close();
    }
  } catch (error) {
    if (error instanceof WalkFailure) return undefined;
    throw error;
  }
}

async function explained(wish: Wish, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    throw error instanceof WalkFailure ? faultOf(error.fault, wish) : error;
  }
}

function faultOf(fault: WalkFault, { path, allocId: allocation }: Wish): StreamFault {
  switch (fault) {
    case 'missing':
    case 'changed':
      return streamRefusal(refusal('file-not-found', { path, allocation }));
    case 'escapes':
      return streamRefusal(
        refusal('invalid-path', { reason: `"${path}" leads out of the allocation` }),
      );
    case 'too-many-links':
      return streamRefusal(
        refusal('invalid-path', { reason: `"${path}" goes over too many links` }),
      );
    case 'too-deep':
      return streamRefusal(refusal('invalid-path', { reason: `"${path}" is too deep` }));
    case 'secret': {
      const reason = '"secrets" and "private" are for the task alone';
      return streamRefusal(refusal('file-refused', { path, allocation, reason }));
    }
    case 'unreadable': {
      const reason = 'the node may not read it';
      return streamRefusal(refusal('file-refused', { path, allocation, reason }));
    }
  }
}

const unfit = ({ path, allocId }: Wish, reason: string): StreamFault =>
  streamRefusal(refusal('file-unfit', { path, allocation: allocId, reason }));

const tooMany = (id: string): StreamFault =>
  new StreamFault({
    status: 429,
    code: 'too-many-streams',
    message: `The files of the allocation "${id}" have too many readers on this node.`,
  });
