import { chmod, chown, lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Timer, Timers } from '../base/ports.ts';
import { limits } from '../model/limits.ts';
import { escapesDirectory } from '../model/text-rules.ts';
import { findSystemUser } from './system-user.ts';

/** Replaces a file whole: a reader finds the old text or the new one. Only this user reads it. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  try {
    await writeFile(temporary, text, { mode: 0o600 });
    await chmod(temporary, 0o600);
    await rename(temporary, path);
  } catch (error) {
    // What is half written on a full disk only takes more of it.
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

/**
 * Writes a file below a directory that a task may have had in its hands: it is made anew, and no link
 * that was left there is followed. `user` owns what is made; empty is the agent's.
 * @throws Error when the path leads out, or through what is no directory
 */
export async function writeBelow(
  directory: string,
  path: string,
  bytes: Uint8Array,
  user: string,
): Promise<void> {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const name = parts.pop();
  if (name === undefined || parts.includes('..') || name === '..' || escapesDirectory(path)) {
    throw new Error(`"${path}" is no file below the directory`);
  }
  const owner = user === '' ? undefined : findSystemUser(user);
  let at = directory;
  for (const part of parts) {
    at = join(at, part);
    const isNew = await makeDirectory(at);
    if (isNew && owner !== undefined) await chown(at, owner.uid, owner.gid);
    if (!(await lstat(at)).isDirectory()) throw new Error(`"${part}" of "${path}" is no directory`);
  }
  const temporary = join(at, `.${name}.new`);
  await rm(temporary, { force: true, recursive: true });
  await writeFile(temporary, bytes, { mode: 0o600, flag: 'wx' });
  if (owner !== undefined) await chown(temporary, owner.uid, owner.gid);
  await rename(temporary, join(at, name));
}

/** `false`: something is there already. */
async function makeDirectory(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** The file's JSON value; `undefined` when there is no file. Throws when it is damaged. */
export async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Writes the newest version of a text, one write at a time. A call during a write waits for the
 * next one, which serves all who wait. A write that fails, as on a full disk, is tried again from
 * time to time; the first failure of a row of them is told.
 */
export class LatestFile {
  readonly #path: string;
  readonly #text: () => string;
  readonly #onError: (error: Error) => void;
  #writing: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  readonly #timers: Timers;
  #retry: Timer | undefined;
  #hasFailed = false;
  #isClosed = false;

  constructor(path: string, text: () => string, timers: Timers, onError: (error: Error) => void) {
    this.#path = path;
    this.#text = text;
    this.#timers = timers;
    this.#onError = onError;
  }

  /** Nothing is tried again from now on. */
  close(): void {
    this.#isClosed = true;
    this.#retry?.clear();
  }

  /** Resolves when what `text` gives now, or something newer, is in the file. Never rejects. */
  save(): Promise<void> {
    if (this.#writing === undefined) {
      this.#writing = this.#write();
      return this.#writing;
    }
    this.#next ??= this.#writing.then(() => {
      this.#next = undefined;
      this.#writing = this.#write();
      return this.#writing;
    });
    return this.#next;
  }

  async #write(): Promise<void> {
    try {
      this.#retry?.clear();
      await replaceFile(this.#path, this.#text());
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#onError(error as Error);
      this.#hasFailed = true;
      if (!this.#isClosed) {
        this.#retry = this.#timers.after(limits.node.saveRetryMs, () => void this.save());
      }
    } finally {
      if (this.#next === undefined) this.#writing = undefined;
    }
  }
}
