import { constants } from 'node:fs';
import { mkdir, open, readFile, readlink, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Timer, Timers } from '../base/ports.ts';
import { limits } from '../model/limits.ts';
import { escapesDirectory } from '../model/text-rules.ts';
import { allDefences, type Defences } from './defences.ts';
import { HeldDirectory } from './held-directory.ts';
import { descriptorPath, findOnly, mayBeForeign } from './plain-file.ts';
import type { SystemUser } from './system-user.ts';

/**
 * Replaces a file whole: a reader finds the old text or the new one. Only this user reads it. `spare` is an empty file that
 * becomes the file.
 */
export async function replaceFile(path: string, text: string, spare?: string): Promise<void> {
  const temporary = spare ?? `${path}.new`;
  try {
    if (spare !== undefined) await writeFile(spare, text, { flag: 'r+' });
    else
      await writeNew(temporary, text).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
        // A process that was killed left the temporary file.
        await rm(temporary, { force: true });
        await writeNew(temporary, text);
      });
    await rename(temporary, path);
  } catch (error) {
    // A half-written file on a full disk only takes more of it.
    await rm(temporary, { force: true }).catch(() => {});
    if (spare === undefined) throw error;
    await replaceFile(path, text);
  }
}

const writeNew = (path: string, text: string): Promise<void> =>
  writeFile(path, text, { mode: 0o600, flag: 'wx' });

export interface FileOwnership {
  /** Gets the file and the directories made for it. Default: the agent. */
  readonly owner?: SystemUser | undefined;
  /** Permissions. Default: only the owner reads it. */
  readonly modeBits?: number;
  /** Instead of the owner's user or group. */
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  readonly defences?: Defences | undefined;
}

/**
 * Writes a file below a directory that a task may change meanwhile: the file is made anew, and no
 * link is followed, not even a link that appears during the write. The file and the directories
 * made for it belong to `owner`, or to the agent.
 * @throws Error when the path leads out of the directory, or a part of it is no directory
 */
export async function writeBelow(
  directory: string,
  path: string,
  bytes: Uint8Array,
  { owner, modeBits = 0o600, uid, gid, defences = allDefences }: FileOwnership = {},
): Promise<void> {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const name = parts.pop();
  if (name === undefined || parts.includes('..') || name === '..' || escapesDirectory(path)) {
    throw new Error(`"${path}" is no file below the directory`);
  }
  if (!defences.heldPaths) return writeAnywhere(join(directory, path), bytes);
  const held = [await HeldDirectory.open(directory)];
  try {
    for (const part of parts) {
      const next = await held
        .at(-1)!
        .child(part, owner)
        .catch(() => undefined);
      if (next === undefined) throw new Error(`"${part}" of "${path}" is no directory`);
      held.push(next);
    }
    const into = held.at(-1)!;
    const temporary = `.${name}.new`;
    await into.remove(temporary);
    const file = await open(into.at(temporary), 'wx', 0o600);
    try {
      await file.writeFile(bytes);
      const [ownUid, ownGid] = [uid ?? owner?.uid, gid ?? owner?.gid];
      if (ownUid !== undefined || ownGid !== undefined) {
        const now = await file.stat();
        await file.chown(ownUid ?? now.uid, ownGid ?? now.gid);
      }
      await file.chmod(modeBits);
    } finally {
      await file.close();
    }
    await rename(into.at(temporary), into.at(name)).catch(async (error: Error) => {
      await into.remove(temporary);
      throw new Error(`"${path}" cannot be replaced: ${codeOf(error)}`);
    });
  } finally {
    for (const one of held) await one.close();
  }
}

const codeOf = (error: NodeJS.ErrnoException): string => error.code ?? error.message;

/** The plain way, for directories that no task can change. */
async function writeAnywhere(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes);
}

/**
 * Reads a file below a directory that a task may change meanwhile; `undefined` when it is missing.
 * Links are followed when their target is below the directory.
 * @throws Error when it is outside the directory, no plain file, or longer than `bytesMax`
 */
export async function readBelow(
  directory: string,
  path: string,
  bytesMax: number,
  { heldPaths }: Defences = allDefences,
): Promise<Uint8Array | undefined> {
  if (escapesDirectory(path)) throw new Error(`"${path}" is not below the directory`);
  if (!heldPaths) return readFile(join(directory, path));
  // Found first and opened later, as opening a pipe or a device has effects.
  const found = await open(join(directory, path), findOnly).catch(ignoreMissing);
  if (found === undefined) return undefined;
  try {
    const [root, real] = await Promise.all([realpath(directory), readlink(descriptorPath(found))]);
    if (!real.startsWith(`${root}/`)) throw new Error(`"${path}" is not below the directory`);
    const stat = await found.stat();
    if (!stat.isFile()) throw new Error(`"${path}" is no file`);
    if (await mayBeForeign(stat)) throw new Error(`"${path}" has other names as well`);
    if (stat.size > bytesMax) throw new Error(`"${path}" is larger than ${bytesMax} bytes`);
    const file = await open(descriptorPath(found), constants.O_RDONLY);
    try {
      const buffer = Buffer.alloc(stat.size);
      const { bytesRead } = await file.read(buffer, 0, stat.size, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } finally {
    await found.close();
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
  return undefined;
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

export interface LatestFileOptions {
  readonly onError: (error: Error) => void;
  /** An empty file on the same file system that becomes the next version. Default: a new file. */
  readonly takeSpare?: () => string | undefined;
}

/**
 * Keeps a file up to date with a text, one write at a time. Calls during a write share the next
 * write. A failed write, as on a full disk, is repeated from time to time; only the first failure
 * in a row is reported.
 */
export class LatestFile {
  readonly #path: string;
  readonly #text: () => string;
  readonly #options: LatestFileOptions;
  #writing: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  readonly #timers: Timers;
  #retry: Timer | undefined;
  #soon: Timer | undefined;
  #hasFailed = false;
  #isClosed = false;

  constructor(path: string, text: () => string, timers: Timers, options: LatestFileOptions) {
    this.#path = path;
    this.#text = text;
    this.#timers = timers;
    this.#options = options;
  }

  /** Failed writes are not repeated from now on, and nothing is saved without `save`. */
  close(): void {
    this.#isClosed = true;
    this.#retry?.clear();
    this.#soon?.clear();
  }

  /** Resolves when the present text, or a newer one, is written or has failed. Never rejects. */
  save(): Promise<void> {
    this.#soon?.clear();
    this.#soon = undefined;
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

  /** Saves the text within `saveSoonMs`, unless `save` does before. */
  saveSoon(): void {
    if (this.#isClosed || this.#next !== undefined) return;
    this.#soon ??= this.#timers.after(limits.node.saveSoonMs, () => void this.save());
  }

  /** Removes the file after the last write. Only after `close`. */
  async remove(): Promise<void> {
    await (this.#next ?? this.#writing);
    await rm(this.#path, { force: true });
  }

  async #write(): Promise<void> {
    try {
      this.#retry?.clear();
      await replaceFile(this.#path, this.#text(), this.#options.takeSpare?.());
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#options.onError(error as Error);
      this.#hasFailed = true;
      if (!this.#isClosed) {
        this.#retry = this.#timers.after(limits.node.saveRetryMs, () => void this.save());
      }
    } finally {
      if (this.#next === undefined) this.#writing = undefined;
    }
  }
}
