/**
 * The note of how far a container's output is written. It may lag behind the log files: bytes
 * beyond the noted place are output after its mark.
 */
import { readJson, replaceFile } from '../../files.ts';
import { LogFiles } from '../../supervisor/log-files.ts';
import type { LogSettings } from '../../supervisor/protocol.ts';
import { type LogMark, noMark } from './log-mark.ts';

export const streamNames = ['stdout', 'stderr'] as const;
export type StreamName = (typeof streamNames)[number];

/** The stream is written up to `mark`, which is at `fileBytes` in file `fileIndex`. */
export interface StreamNote {
  readonly mark: LogMark;
  readonly fileIndex: number;
  readonly fileBytes: number;
}

export interface LogNote {
  readonly runId: string;
  readonly streams: Readonly<Record<StreamName, StreamNote>>;
}

/** The note of a run that begins now. */
export async function freshNote(runId: string, settings: LogSettings): Promise<LogNote> {
  const [stdout, stderr] = await Promise.all(
    streamNames.map(async (name): Promise<StreamNote> => {
      const files = await filesOf(settings, name);
      const { index: fileIndex, bytes: fileBytes } = files.at(-1) ?? { index: 0, bytes: 0 };
      return { mark: noMark, fileIndex, fileBytes };
    }),
  );
  return { runId, streams: { stdout: stdout!, stderr: stderr! } };
}

/** `undefined` when there is none for this run. */
export async function readNote(path: string, runId: string): Promise<LogNote | undefined> {
  try {
    const note = (await readJson(path)) as LogNote | undefined;
    return note?.runId === runId && streamNames.every((name) => isNote(note.streams[name]))
      ? note
      : undefined;
  } catch {
    return undefined;
  }
}

const isNote = (note: StreamNote | undefined): boolean =>
  typeof note?.mark?.key === 'string' &&
  [note.mark.bytes, note.fileIndex, note.fileBytes].every(Number.isSafeInteger);

export const writeNote = (path: string, note: LogNote): Promise<void> =>
  replaceFile(path, JSON.stringify(note));

/** How many bytes the files have beyond the noted place. */
export async function bytesBeyond(
  note: StreamNote,
  settings: LogSettings,
  name: StreamName,
): Promise<number> {
  const files = await filesOf(settings, name);
  return files.reduce((sum, { index, bytes }) => {
    if (index < note.fileIndex) return sum;
    return sum + (index === note.fileIndex ? Math.max(0, bytes - note.fileBytes) : bytes);
  }, 0);
}

/** A stream's files in order. */
async function filesOf({ directory, name }: LogSettings, stream: StreamName) {
  const files = new LogFiles(directory, name, stream);
  const indexes = await files.indexes();
  return Promise.all(indexes.map(async (index) => ({ index, bytes: await files.sizeOf(index) })));
}
