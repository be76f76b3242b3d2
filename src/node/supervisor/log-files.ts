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

/** Where a stream goes on. */
export interface NewestLog {
  readonly index: number;
  readonly fileBytes: number;
  /** Open, where it was made just now. */
  readonly file: FileHandle | undefined;
}

/**
 * The rotated files of one stream of a task's output, `<task>.<stream>.N`. No task writes where they
 * are (DESIGN.md, N6); nor is that relied on: the directory is held for each look, no link is
 * followed, and nothing but a plain file of one name is opened (N1 to N3).
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

  /** In order. None where there is no directory. */
  indexes(): Promise<readonly number[]> {
    return this.#held((held) => this.#indexesIn(held)).catch(() => []);
  }

  /** 0 where there is none. */
  sizeOf(index: number): Promise<number> {
    return this.#held((held) => this.#sizeIn(held, index)).catch(() => 0);
  }

  /**
   * The newest file, or the first, which is made where there is none. The directory is held once for
   * all of that, as every task does so for each of its streams. Never rejects.
   */
  newest(): Promise<NewestLog> {
    const nothing = { index: 0, fileBytes: 0, file: undefined };
    return this.#held(async (held) => {
      const index = (await this.#indexesIn(held)).at(-1);
      if (index === undefined) {
        // `openToAppend` finds out what is in the way, and deals with it.
        const file = await create(held.at(this.nameOf(0))).catch(() => undefined);
        return { ...nothing, file };
      }
      const fileBytes = await this.#sizeIn(held, index).catch(() => 0);
      return { index, fileBytes, file: undefined };
    }).catch(() => nothing);
  }

  /** `undefined`: there is none that may be read. */
  openToRead(index: number): Promise<FileHandle | undefined> {
    return this.#held((held) => {
      const path = held.at(this.nameOf(index));
      return this.#defences.plainLogs ? openPlainFile(path, O_RDONLY) : open(path, 'r');
    }).catch(() => undefined);
  }

  /** What is in the way and no log goes: the directory is for logs alone. */
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

  async #indexesIn(held: HeldDirectory): Promise<readonly number[]> {
    const names = await held.names();
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

/** Only where there is nothing of that name. */
const create = (path: string): Promise<FileHandle> =>
  open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644);
