/** Work in directories that a task may have in its hands: DESIGN.md, invariants N1 to N5. */
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
 * A directory that is held open, and what is done in it is done in that one: its names are reached
 * through the handle, so that whoever may write above cannot put a link in the way meanwhile.
 */
export class HeldDirectory {
  readonly #handle: FileHandle;
  readonly #defences: Defences;

  private constructor(handle: FileHandle, defences: Defences) {
    this.#handle = handle;
    this.#defences = defences;
  }

  /** Rejects when it is a link, or no directory. */
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

  /** The path of a name in it, as long as it is held. */
  at(name: string): string {
    return `${descriptorPath(this.#handle)}/${name}`;
  }

  names(): Promise<string[]> {
    return readdir(this.at(''));
  }

  /** The directory of that name, made when there is none. */
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

  /** The directory of that name, which is there. Rejects when it is a link, or no directory. */
  enter(name: string): Promise<HeldDirectory> {
    return HeldDirectory.open(this.at(name), this.#defences);
  }

  /** Gives the directory itself to a user, and nothing that is in it. */
  async give({ uid, gid }: SystemUser): Promise<void> {
    await this.#handle.chown(uid, gid);
  }

  async permit(modeBits: number): Promise<void> {
    await this.#handle.chmod(modeBits);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  /** Takes away what has that name, if anything has, with all that is in it. */
  remove(name: string): Promise<void> {
    return removeTree(this.at(''), name);
  }

  /**
   * Moves what another directory has under a name here. What is here already stays where the tree has
   * nothing of that name; a file takes the place of a file.
   */
  async take(from: HeldDirectory, entry: string, name = entry): Promise<void> {
    const found = await lstat(from.at(entry));
    const present = await lstat(this.at(name)).catch(() => undefined);
    if (found.isDirectory()) {
      if (present === undefined && (await this.#move(from.at(entry), name))) return;
      await this.#merge(from, entry, { name, attributes: present ? undefined : found });
      return;
    }
    if (present?.isDirectory()) {
      throw new Error(`"${name}" in the destination is a directory`);
    }
    if (await this.#move(from.at(entry), name)) return;
    await this.#copy(from.at(entry), name, found);
  }

  async #merge(
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

  /** `false`: it lies on another file system. */
  async #move(path: string, name: string): Promise<boolean> {
    try {
      await rename(path, this.at(name));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EXDEV') return false;
      throw error;
    }
  }

  /** Made where nobody else gets, so that it is whole, and what it is meant to be, when it is seen. */
  async #copy(path: string, name: string, found: Stats): Promise<void> {
    const closed = `.${name}.new`;
    await this.remove(closed);
    await mkdir(this.at(closed), { mode: 0o700 });
    const staging = await this.enter(closed);
    try {
      if (found.isSymbolicLink()) {
        await symlink(await readlink(path), staging.at('copy'));
        await lchown(staging.at('copy'), found.uid, found.gid);
      } else if (found.isFile()) await copyFile(path, staging.at('copy'));
      // A pipe, a socket or a device holds nothing that could be copied.
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
