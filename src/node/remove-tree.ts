/**
 * Removes trees that tasks made, even while a task still writes in them.
 *
 * Invariants
 *  R1. Only entries of an open directory are removed, and no link is followed: replacing a
 *      directory with a link meanwhile redirects nothing.
 *  R2. At most two directories are open, however deep the tree is: deeper directories are moved up.
 *  R3. Names are bytes, so names that are no valid text are removed as well.
 */
import { constants } from 'node:fs';
import { chmod, type FileHandle, open, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { descriptorPath, findOnly } from './plain-file.ts';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/** `above` must be the path of a held directory. A missing entry is no error. */
export async function removeTree(above: string, name: string): Promise<void> {
  const path = Buffer.from(`${above}${name}`);
  if (await unlinked(path)) return;
  const top = await openDirectory(path);
  try {
    let moved = 0;
    for (let names = await namesIn(top); names.length > 0; names = await namesIn(top)) {
      for (const one of names) moved = await removeIn(top, one, moved);
    }
  } finally {
    await top.close();
  }
  await rmdir(path);
}

/** R2. Removes one entry of the top directory, whose subdirectories move up to the top. */
async function removeIn(top: FileHandle, name: Buffer, moved: number): Promise<number> {
  const path = inside(top, name);
  if (await unlinked(path)) return moved;
  const directory = await openDirectory(path).catch(unlessChanged);
  if (directory === undefined) return moved;
  let number = moved;
  try {
    for (const one of await namesIn(directory)) {
      const inner = inside(directory, one);
      if (!(await unlinked(inner))) number = await moveUp(inner, top, number + 1);
    }
  } finally {
    await directory.close();
  }
  await rmdir(path).catch(unlessChanged);
  return number;
}

/** Somebody still writes there: the next listing finds the new entries. */
function unlessChanged(error: NodeJS.ErrnoException): undefined {
  if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'ENOTEMPTY'].includes(error.code ?? '')) throw error;
  return undefined;
}

/** Moves a directory to a free name in the top directory. */
async function moveUp(path: Buffer, top: FileHandle, from: number): Promise<number> {
  for (let number = from; ; number++) {
    try {
      await rename(path, inside(top, Buffer.from(`.removed-${number}`)));
      return number;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return number;
      if (!['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes(code)) throw error;
    }
  }
}

/** `false`: the path is a directory's. */
async function unlinked(path: Buffer): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EISDIR') return false;
    if (code === 'ENOENT') return true;
    throw error;
  }
}

/** Opens also a directory whose owner has taken all permissions away. */
async function openDirectory(path: Buffer): Promise<FileHandle> {
  const found = await open(path, findOnly | O_DIRECTORY | O_NOFOLLOW);
  try {
    const { mode } = await found.stat();
    // If this fails, the permissions do not matter, or `open` fails below.
    if ((mode & 0o700) !== 0o700) await chmod(descriptorPath(found), 0o700).catch(() => {});
    return await open(`${descriptorPath(found)}/.`, O_RDONLY | O_DIRECTORY);
  } finally {
    await found.close();
  }
}

const inside = (directory: FileHandle, name: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${descriptorPath(directory)}/`), name]);

/** R3. */
const namesIn = (directory: FileHandle): Promise<Buffer[]> =>
  readdir(`${descriptorPath(directory)}/.`, 'buffer');
