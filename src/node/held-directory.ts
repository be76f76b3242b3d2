import { constants, type Stats } from 'node:fs';
import {
  chmod,
  copyFile,
  type FileHandle,
  lchown,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import type { SystemUser } from './system-user.ts';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, COPYFILE_EXCL } = constants;

/**
 * A directory that is held open, and what is done in it is done in that one: its names are reached
 * through the handle, so that whoever may write above cannot put a link in the way meanwhile.
 */
export class HeldDirectory {
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Rejects when it is a link, or no directory. */
  static async open(path: string): Promise<HeldDirectory> {
    return new HeldDirectory(await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  }

  /** The path of a name in it, as long as it is held. */
  at(name: string): string {
    return `/proc/self/fd/${this.#handle.fd}/${name}`;
  }

  /** The directory of that name, made when there is none. */
  async child(name: string, owner: SystemUser | undefined): Promise<HeldDirectory> {
    const path = this.at(name);
    const isNew = await mkdir(path, { mode: 0o755 }).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return false;
        throw error;
      },
    );
    if (isNew && owner !== undefined) await lchown(path, owner.uid, owner.gid);
    try {
      return await HeldDirectory.open(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOTDIR' && code !== 'ELOOP') throw error;
      throw new Error(`"${name}" in the destination is no directory`);
    }
  }

  /** The directory of that name, which is there. Rejects when it is a link, or no directory. */
  enter(name: string): Promise<HeldDirectory> {
    return HeldDirectory.open(this.at(name));
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  /**
   * Moves a tree that nobody else reaches here, under `name`. What is here already stays where the
   * tree has nothing of that name; a file takes the place of a file.
   */
  async take(staged: string, name: string): Promise<void> {
    const found = await lstat(staged);
    const present = await lstat(this.at(name)).catch(() => undefined);
    if (found.isDirectory()) {
      if (present === undefined && (await this.#move(staged, name))) return;
      const inner = await this.child(name, undefined);
      try {
        if (present === undefined) await keepAttributes(found, this.at(name));
        for (const entry of await readdir(staged)) await inner.take(`${staged}/${entry}`, entry);
      } finally {
        await inner.close();
      }
      return;
    }
    if (present?.isDirectory()) {
      throw new Error(`"${name}" in the destination is a directory`);
    }
    if (await this.#move(staged, name)) return;
    await this.#copy(staged, name, found);
  }

  /** `false`: it lies on another file system. */
  async #move(staged: string, name: string): Promise<boolean> {
    try {
      await rename(staged, this.at(name));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EXDEV') return false;
      throw error;
    }
  }

  async #copy(staged: string, name: string, found: Stats): Promise<void> {
    const temporary = `.${name}.new`;
    await rm(this.at(temporary), { force: true, recursive: true });
    try {
      if (found.isSymbolicLink()) await symlink(await readlink(staged), this.at(temporary));
      else await copyFile(staged, this.at(temporary), COPYFILE_EXCL);
      await keepAttributes(found, this.at(temporary));
      await rename(this.at(temporary), this.at(name));
    } catch (error) {
      await rm(this.at(temporary), { force: true });
      throw error;
    }
  }
}

async function keepAttributes(found: Stats, path: string): Promise<void> {
  await lchown(path, found.uid, found.gid);
  if (!found.isSymbolicLink()) await chmod(path, found.mode & 0o777);
}
