import { constants } from 'node:fs';
import { type FileHandle, lstat, open, unlink } from 'node:fs/promises';
import { allDefences, type Defences } from '../defences.ts';
import { HeldDirectory } from '../held-directory.ts';
import { openPlainFile, UnfitFile } from '../plain-file.ts';

const { O_RDONLY, O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;

/** N of `<prefix>N`, or -1 for other names. */
export function logFileIndex(name: string, prefix: string): number {
  if (!name.startsWith(prefix)) return -1;
  const digits = name.slice(prefix.length);
  return /^\d{1,15}$/.test(digits) ? Number(digits) : -1;
}

/** The place where a stream goes on. */
export interface NewestLog {
  readonly index: number;
  readonly fileBytes: number;
  /** Open if it was made just now. */
  readonly file: FileHandle | undefined;
}

const noLog: NewestLog = { index: 0, fileBytes: 0, file: undefined };

/**
 * The rotated files of one stream of a task's output, `<task>.<stream>.N`. No task can write in
 * their directory (DESIGN.md, N6), but nothing relies on that: the directory is held during each
 * access, no link is followed, and only plain files with one name are opened (N1 to N3).
 */
export class LogFiles {
  readonly #directory: string;
  readonly #prefix: string;
  readonly #defences: Defences;

  constructor(
    directory: string,
    task: string,
    stream: 'stdout' | 'stderr',
    defences: Defences = allDefences,
  ) {
    this.#defences = defences;
    this.#directory = directory;
    this.#prefix = `${task}.${stream}.`;
  }

  nameOf(index: number): string {
    return `${this.#prefix}${index}`;
  }

  /** In ascending order; empty when there is no directory. */
  indexes(): Promise<readonly number[]> {
    return this.#held(async (held) => this.#indexesOf(await held.names())).catch(() => []);
  }

  /** 0 when the file is missing. */
  sizeOf(index: number): Promise<number> {
    return this.#held((held) => this.#sizeIn(held, index)).catch(() => 0);
  }

  /** The newest file; the first file is made when there is none. Never rejects. */
  newest(): Promise<NewestLog> {
    const newest = async (held: HeldDirectory) => this.newestIn(held, await held.names());
    return this.#held(newest).catch(() => noLog);
  }

  /** The same in a directory that the caller holds and has listed. */
  async newestIn(held: HeldDirectory, names: readonly string[]): Promise<NewestLog> {
    const index = this.#indexesOf(names).at(-1);
    if (index === undefined) {
      // `openToAppend` deals with any obstacle.
      const file = await create(held.at(this.nameOf(0))).catch(() => undefined);
      return { ...noLog, file };
    }
    const fileBytes = await this.#sizeIn(held, index).catch(() => 0);
    return { index, fileBytes, file: undefined };
  }

  /** `undefined`: there is no file that may be read. */
  openToRead(index: number): Promise<FileHandle | undefined> {
    return this.#held((held) => {
      const path = held.at(this.nameOf(index));
      return this.#defences.plainLogs ? openPlainFile(path, O_RDONLY) : open(path, 'r');
    }).catch(() => undefined);
  }

  /** Removes any other entry that has the name, as the directory is only for logs. */
  openToAppend(index: number): Promise<FileHandle> {
    return this.#held(async (held) => {
      const path = held.at(this.nameOf(index));
      if (!this.#defences.plainLogs) return open(path, 'a');
      const present = await openPlainFile(path, O_WRONLY | O_APPEND).catch(async (error: Error) => {
        if (error instanceof UnfitFile) await unlink(path);
        else if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        return undefined;
      });
      return present ?? create(path);
    });
  }

  async remove(index: number): Promise<void> {
    await this.#held((held) => unlink(held.at(this.nameOf(index))));
  }

  #indexesOf(names: readonly string[]): readonly number[] {
    const indexes = names.map((name) => logFileIndex(name, this.#prefix));
    return indexes.filter((index) => index >= 0).sort((left, right) => left - right);
  }

  async #sizeIn(held: HeldDirectory, index: number): Promise<number> {
    const stats = await lstat(held.at(this.nameOf(index)));
    return stats.isFile() ? stats.size : 0;
  }

  #held<T>(use: (held: HeldDirectory) => Promise<T>): Promise<T> {
    return HeldDirectory.during(this.#directory, use, this.#defences);
  }
}

const streamNames = ['stdout', 'stderr'] as const;

/**
 * The newest files of a task's output and errors. The directory is held and listed once for both,
 * as each start of a task needs them. Never rejects.
 */
export function newestLogs(
  directory: string,
  task: string,
  defences: Defences = allDefences,
): Promise<readonly NewestLog[]> {
  const newest = async (held: HeldDirectory) => {
    const names = await held.names();
    const files = streamNames.map((stream) => new LogFiles(directory, task, stream, defences));
    return Promise.all(files.map((stream) => stream.newestIn(held, names)));
  };
  return HeldDirectory.during(directory, newest, defences).catch(() => [noLog, noLog]);
}

/** Fails when the name is taken. */
const create = (path: string): Promise<FileHandle> =>
  open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644);
