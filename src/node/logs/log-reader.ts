import type { FileHandle } from 'node:fs/promises';
import type { Timers } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import { PieceReader } from '../allocation-files/read-piece.ts';
import { ChangeWatch } from '../change-watch.ts';
import type { Defences } from '../defences.ts';
import { LogFiles } from '../supervisor/log-files.ts';

export interface LogQuery {
  readonly defences?: Defences | undefined;
  readonly directory: string;
  readonly task: string;
  readonly type: 'stdout' | 'stderr';
  readonly origin: 'start' | 'end';
  /** Bytes from the origin, over all files together. */
  readonly offset: number;
  readonly follow: boolean;
  readonly isOver: () => boolean;
  readonly whenOver: Promise<void>;
  readonly signal: AbortSignal;
  readonly timers: Timers;
}

export interface LogChunk {
  readonly file: string;
  /** Where in the file the data begins. */
  readonly offset: number;
  /** Valid until the next chunk is asked for. */
  readonly data: Uint8Array;
  /** Files were removed by rotation before they could be read. */
  readonly gap: boolean;
}

/**
 * The bytes of one log stream across its rotated files, each once and in order. Gives `undefined`
 * now and then while nothing is new. Ends at the end of the log or, when following, of the task.
 *
 * A file is final once its successor exists (`LogWriter`), and an open file stays readable after
 * rotation removes it: a reader that keeps up misses and repeats nothing.
 */
export async function* readLog(query: LogQuery): AsyncGenerator<LogChunk | undefined, void> {
  const { directory, signal, timers } = query;
  const files = new LogFiles(directory, query.task, query.type, query.defences);
  const changes = query.follow ? new ChangeWatch(directory, timers, signal) : undefined;
  if (changes !== undefined) void query.whenOver.then(() => changes.note());
  const pieces = new PieceReader();
  const readChunk = (of: FileHandle | undefined, position: number) =>
    of === undefined ? nothing : pieces.read(of, position, limits.stream.sentFrameBytes);
  let cursor = await startOf(query, files);
  let file: FileHandle | undefined;
  let gap = false;
  try {
    while (!signal.aborted) {
      // Asked before the read, which then sees everything written before the end.
      const over = query.isOver();
      file ??= await files.openToRead(cursor.index);
      let data = await readChunk(file, cursor.position);
      // A successor is looked for only at the end of a file. Bytes that were written before the
      // successor existed are read first.
      const next = data.length > 0 ? undefined : await successorOf(files, cursor.index);
      if (next !== undefined) {
        file ??= await files.openToRead(cursor.index);
        data = await readChunk(file, cursor.position);
      }
      if (data.length > 0) {
        yield { file: files.nameOf(cursor.index), offset: cursor.position, data, gap };
        cursor = { ...cursor, position: cursor.position + data.length };
        gap = false;
      } else if (next !== undefined) {
        gap ||= file === undefined || next > cursor.index + 1;
        await file?.close();
        file = undefined;
        cursor = { index: next, position: 0 };
      } else if (changes === undefined || over) {
        return;
      } else {
        pieces.rest();
        if (!(await changes.wait())) yield undefined;
      }
    }
  } finally {
    changes?.close();
    await file?.close();
  }
}

const nothing = new Uint8Array();

interface Cursor {
  readonly index: number;
  readonly position: number;
}

const successorOf = async (files: LogFiles, index: number) =>
  (await files.indexes()).find((other) => other > index);

/** The file and position of the wanted offset, at most the end of the log. */
async function startOf(query: LogQuery, files: LogFiles): Promise<Cursor> {
  const indexes = await files.indexes();
  const sizes = await Promise.all(indexes.map((index) => files.sizeOf(index)));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  let left = query.origin === 'start' ? query.offset : Math.max(0, total - query.offset);
  for (const [at, size] of sizes.entries()) {
    if (left <= size) return { index: indexes[at]!, position: left };
    left -= size;
  }
  return { index: indexes.at(-1) ?? 0, position: sizes.at(-1) ?? 0 };
}
