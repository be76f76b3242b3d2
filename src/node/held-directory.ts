/** Work in directories that a task may change meanwhile: DESIGN.md, invariants N1 to N5. */
import { constants, type Stats } from 'node:fs';
import {
  type FileHandle,
  lchown,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  symlink,
} from 'node:fs/promises';
import { allDefences, type Defences } from './defences.ts';
import { descriptorPath, openPlainFile } from './plain-file.ts';
import { removeTree } from './remove-tree.ts';
import type { SystemUser } from './system-user.ts';

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY, O_NOFOLLOW } = constants;

/**
 * A directory that is held open. Its entries are reached through the open descriptor, so nobody who
 * can write in a parent directory can redirect the work with a link.
 */
export class HeldDirectory {
  readonly #handle: FileHandle;
  readonly #defences: Defences;

  private constructor(handle: FileHandle, defences: Defences) {
    this.#handle = handle;
    this.#defences = defences;
  }

  /** Rejects when the path is a link, or no directory. */
  static async open(path: string, defences: Defences = allDefences): Promise<HeldDirectory> {
    const noLink = defences.heldPaths ? O_NOFOLLOW : 0;
    return new HeldDirectory(await open(path, O_RDONLY | O_DIRECTORY | noLink), defences);
  }

  /** Holds a directory while `use` works in it. */
  static async during<T>(
    path: string,
    use: (held: HeldDirectory) => Promise<T>,
    defences: Defences = allDefences,
  ): Promise<T> {
    const held = await HeldDirectory.open(path, defences);
    try {
      return await use(held);
    } finally {
      await held.close();
    }
  }

  /** The path of an entry, valid as long as the directory is held. */
  at(name: string): string {
    return `${descriptorPath(this.#handle)}/${name}`;
  }

  names(): Promise<string[]> {
    return readdir(this.at(''));
  }

  /** Opens a subdirectory, and makes it when it is missing. A new one goes to `owner`. */
  async child(name: string, owner: SystemUser | undefined): Promise<HeldDirectory> {
    const isNew = await mkdir(this.at(name), { mode: 0o755 }).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return false;
        throw error;
      },
    );
    try {
      const child = await this.enter(name);
      if (isNew && owner !== undefined) await child.give(owner);
      return child;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOTDIR' && code !== 'ELOOP') throw error;
      throw new Error(`"${name}" in the destination is no directory`);
    }
  }

  /** Opens a subdirectory. Rejects when it is missing, a link, or no directory. */
  enter(name: string): Promise<HeldDirectory> {
    return HeldDirectory.open(this.at(name), this.#defences);
  }

  /** Gives the directory itself to a user, but not its contents. */
  async give({ uid, gid }: SystemUser): Promise<void> {
    await this.#handle.chown(uid, gid);
  }

  async permit(modeBits: number): Promise<void> {
    await this.#handle.chmod(modeBits);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  /** Removes an entry with its contents, if there is one. */
  remove(name: string): Promise<void> {
    return removeTree(this.at(''), name);
  }

  /**
   * Moves an entry of another directory here. Directories are merged, files are replaced, and
   * entries that only this directory has stay.
   */
  async take(from: HeldDirectory, entry: string, name = entry): Promise<void> {
    const found = await lstat(from.at(entry));
    const present = await lstat(this.at(name)).catch(() => undefined);
    if (found.isDirectory()) {
      if (present === undefined && (await this.#moveEntry(from.at(entry), name))) return;
      await this.#mergeEntry(from, entry, { name, attributes: present ? undefined : found });
      return;
    }
    if (present?.isDirectory()) {
      throw new Error(`"${name}" in the destination is a directory`);
    }
    if (await this.#moveEntry(from.at(entry), name)) return;
    await this.#copyEntry(from.at(entry), name, found);
  }

  async #mergeEntry(
    from: HeldDirectory,
    entry: string,
    { name, attributes }: { readonly name: string; readonly attributes: Stats | undefined },
  ): Promise<void> {
    const source = await from.enter(entry);
    try {
      const inner = await this.child(name, undefined);
      try {
        for (const one of await source.names()) await inner.take(source, one);
        if (attributes !== undefined) await dress(inner.#handle, attributes);
      } finally {
        await inner.close();
      }
    } finally {
      await source.close();
    }
  }

  /** `false`: the source is on another file system. */
  async #moveEntry(path: string, name: string): Promise<boolean> {
    try {
      await rename(path, this.at(name));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EXDEV') return false;
      throw error;
    }
  }

  /** In a closed directory, so that nobody sees or changes the copy before it is complete. */
  async #copyEntry(path: string, name: string, found: Stats): Promise<void> {
    const closed = `.${name}.new`;
    await this.remove(closed);
    await mkdir(this.at(closed), { mode: 0o700 });
    const staging = await this.enter(closed);
    try {
      if (found.isSymbolicLink()) {
        await symlink(await readlink(path), staging.at('copy'));
        await lchown(staging.at('copy'), found.uid, found.gid);
      } else if (found.isFile()) await copyFile(path, staging.at('copy'));
      // Pipes, sockets and devices have no content to copy.
      else return;
      await rename(staging.at('copy'), this.at(name));
    } finally {
      await staging.close();
      await this.remove(closed).catch(() => {});
    }
  }
}

async function copyFile(from: string, to: string): Promise<void> {
  const source = await openPlainFile(from, O_RDONLY, { mayHaveNames: true });
  try {
    const copy = await open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      await copy.writeFile(source.createReadStream({ autoClose: false }));
      await dress(copy, await source.stat());
    } finally {
      await copy.close();
    }
  } finally {
    await source.close();
  }
}

async function dress(handle: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  await handle.chown(uid, gid);
  await handle.chmod(mode & 0o777);
}
