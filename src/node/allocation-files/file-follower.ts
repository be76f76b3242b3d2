import type { FileHandle } from 'node:fs/promises';
import type { Timers } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import { ChangeWatch } from '../change-watch.ts';
import { descriptorPath } from '../plain-file.ts';
import { PieceReader } from './read-piece.ts';

export interface FollowQuery {
  /** Opens the file that is at the path now; `undefined` when there is no readable file. */
  readonly open: () => Promise<FileHandle | undefined>;
  /** The file that the caller opened; it is closed here. */
  readonly file: FileHandle;
  readonly origin: 'start' | 'end';
  /** Bytes from the origin, at most to the end of the file. */
  readonly offset: number;
  readonly follow: boolean;
  readonly signal: AbortSignal;
  readonly timers: Timers;
}

export type FileEvent = 'file truncated' | 'file replaced' | 'file deleted';

export interface FilePiece {
  /** Where in the file the data begins. */
  readonly offset: number;
  /** Valid until the next piece is asked for. */
  readonly data: Uint8Array;
  /** Happened before the data was read. */
  readonly event?: FileEvent;
}

/**
 * The bytes of a file in order, each once. Without `follow` it ends at the size that the file had
 * at the beginning, so it ends even for a file that grows. With `follow` it goes on after
 * truncation and replacement, until the file is deleted, and gives `undefined` now and then while
 * nothing is new.
 *
 * An open file is read to its end before its replacement, so nothing is lost when a program moves
 * its log away and begins a new one.
 */
export async function* followFile(query: FollowQuery): AsyncGenerator<FilePiece | undefined, void> {
  let { file } = query;
  const changes = query.follow
    ? new ChangeWatch(descriptorPath(file), query.timers, query.signal)
    : undefined;
  const pieces = new PieceReader();
  try {
    const { size } = await file.stat();
    let offset =
      query.origin === 'start' ? Math.min(query.offset, size) : Math.max(0, size - query.offset);
    while (!query.signal.aborted) {
      const most = query.follow ? limits.stream.sentFrameBytes : size - offset;
      const data = await pieces.read(file, offset, most);
      if (data.length > 0) {
        yield { offset, data };
        offset += data.length;
        continue;
      }
      if (changes === undefined) return;
      const fate = await fateOf(query, file, offset);
      if (fate.event === 'none') {
        pieces.rest();
        if (!(await changes.wait())) yield undefined;
        continue;
      }
      // Bytes may have been written between the read and the check: they are read first.
      const isRead = fate.event === 'file truncated' || (await file.stat()).size <= offset;
      if (!isRead) {
        await fate.file?.close();
        continue;
      }
      if (fate.event !== 'file truncated') {
        await file.close();
        if (fate.file === undefined) {
          yield { offset, data, event: fate.event };
          return;
        }
        file = fate.file;
        changes.turnTo(descriptorPath(file));
      }
      offset = 0;
      yield { offset, data, event: fate.event };
    }
  } finally {
    changes?.close();
    await file.close().catch(() => {});
  }
}

interface Fate {
  readonly event: FileEvent | 'none';
  /** The file that replaced it. */
  readonly file?: FileHandle;
}

async function fateOf(query: FollowQuery, file: FileHandle, offset: number): Promise<Fate> {
  const ours = await file.stat();
  if (ours.size < offset) return { event: 'file truncated' };
  const there = await query.open();
  if (there === undefined) return { event: 'file deleted' };
  const { dev, ino } = await there.stat();
  if (dev !== ours.dev || ino !== ours.ino) return { event: 'file replaced', file: there };
  await there.close();
  return { event: 'none' };
}
