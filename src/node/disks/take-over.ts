import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HeldDirectory } from '../held-directory.ts';

/**
 * Moves what is in a directory into another, which is made where it is not there. What is no
 * directory, or a link that a task put in its place, has nothing.
 */
export async function takeOver(from: string, to: string): Promise<void> {
  const found = await lstat(from).catch(() => undefined);
  if (found?.isDirectory() !== true) return;
  const names = await readdir(from);
  if (names.length === 0) return;
  // `<task>/local` is the task's own later; its parents are the agent's.
  await mkdir(dirname(to), { recursive: true, mode: 0o755 });
  await mkdir(to, { mode: 0o755 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const held = await HeldDirectory.open(to);
  try {
    for (const name of names) await held.take(join(from, name), name);
  } finally {
    await held.close();
  }
}

/** A directory for the time that `use` takes. */
export async function withStaging(
  path: string,
  use: (path: string) => Promise<void>,
): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await mkdir(path, { mode: 0o700 });
  try {
    await use(path);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}
