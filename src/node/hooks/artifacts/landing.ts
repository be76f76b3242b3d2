import { lchown, lstat, readdir, readlink } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { Defences } from '../../defences.ts';
import { privateDirectory, type TaskDirectories } from '../../directories.ts';
import { HeldDirectory } from '../../held-directory.ts';
import type { SystemUser } from '../../system-user.ts';
import type { Budget } from './budget.ts';
import { checkLink } from './entry-names.ts';
import { ArtifactFailure } from './failure.ts';

/** The destination of an artifact: a directory of the allocation, and the path from there. */
export interface Destination {
  readonly base: string;
  readonly parts: readonly string[];
  /** It was written with a slash at the end. */
  readonly isDirectory: boolean;
}

/**
 * Parses a path below the task's directory or the shared `alloc/`, which may also be an absolute
 * path of the task. Pure. @throws ArtifactFailure when it leads out.
 */
export function destinationOf(text: string, directories: TaskDirectories): Destination {
  const { root, shared } = directories;
  const within = (base: string, path: string): Destination => {
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    if (parts.includes('..') || path.includes('\0')) {
      throw new ArtifactFailure(`the destination "${text}" leads out of the directory of the task`);
    }
    return { base, parts, isDirectory: path.endsWith('/') || path === '' };
  };
  const below = (base: string): string | undefined =>
    text === base || text.startsWith(`${base}/`) ? text.slice(base.length) : undefined;
  for (const base of [shared, root]) {
    const rest = isAbsolute(base) ? below(base) : undefined;
    if (rest !== undefined) return within(base, rest);
  }
  const plain = within(root, text);
  if (plain.parts[0] !== 'alloc') return plain;
  return { ...plain, base: shared, parts: plain.parts.slice(1) };
}

/** Whether it is in a directory that a node may keep in memory. Pure. */
export function maybeInMemory({ base, parts }: Destination, directories: TaskDirectories): boolean {
  const { root, secrets } = directories;
  const inMemory = [secrets, privateDirectory(directories)].map((path) => basename(path));
  return base === root && inMemory.includes(parts[0] ?? '');
}

/**
 * Checks a tree before it moves to its place: counts it, refuses links that lead out and entries
 * other than files, directories and links, and gives it to its owner.
 */
export async function inspect(
  root: string,
  budget: Budget | undefined,
  owner: SystemUser | undefined,
): Promise<void> {
  const visit = async (parts: readonly string[]): Promise<void> => {
    const path = join(root, ...parts);
    const found = await lstat(path);
    if (parts.length > 0) budget?.takeFile();
    if (found.isSymbolicLink()) checkLink(parts, await readlink(path));
    else if (found.isDirectory()) {
      for (const name of await readdir(path)) await visit([...parts, name]);
    } else if (found.isFile()) budget?.takeBytes(found.size);
    else throw new ArtifactFailure('it holds an entry that is no file, directory or link');
    if (owner !== undefined) await lchown(path, owner.uid, owner.gid);
  };
  await visit([]);
}

/** Moves the tree or the file `staged` to its place. No link below the base is followed. */
export async function land(
  staged: string,
  { base, parts }: Destination,
  owner: SystemUser | undefined,
  defences?: Defences,
): Promise<void> {
  const held: HeldDirectory[] = [await HeldDirectory.open(base, defences)];
  try {
    const found = await lstat(staged);
    const above = found.isDirectory() ? parts : parts.slice(0, -1);
    for (const part of above) held.push(await held.at(-1)!.child(part, owner));
    const into = held.at(-1)!;
    if (found.isDirectory()) {
      await HeldDirectory.during(staged, async (tree) => {
        for (const name of await tree.names()) await into.take(tree, name);
      });
    } else {
      const take = (from: HeldDirectory) => into.take(from, basename(staged), parts.at(-1)!);
      await HeldDirectory.during(dirname(staged), take);
    }
  } finally {
    for (const directory of held) await directory.close();
  }
}
