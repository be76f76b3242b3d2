/**
 * The directories of an allocation and its tasks. `N1` and the like are the invariants of
 * DESIGN.md.
 * Source: docs/behaviour/client.md#directories.
 */
import { chmod, lstat, mkdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { quote } from '../model/path.ts';
import { isPathPart } from '../model/text-rules.ts';
import type { Defences } from './defences.ts';
import { HeldDirectory } from './held-directory.ts';
import type { SystemUser } from './system-user.ts';

/**
 * Why no directory can have this name of an allocation or task, such as a name that leads
 * elsewhere. `undefined`: the name is fit.
 */
export function unfitPlace(noun: 'allocation' | 'task', name: string): string | undefined {
  if (isPathPart(name) && !(noun === 'task' && isTaken(name))) return undefined;
  return `The ${noun} ${quote(name)} has a name that no directory can have`;
}

const sharedName = 'alloc';

/** Names that the allocation itself uses: shared directory, staged data, artifacts. */
const isTaken = (name: string): boolean =>
  name === sharedName || /^\.(disk|.*\.artifacts(\.json)?)$/s.test(name);

export interface AllocationDirectories {
  readonly root: string;
  /** Shared by the tasks: `<root>/alloc`. */
  readonly shared: string;
  readonly logs: string;
}

export interface TaskDirectories {
  readonly root: string;
  readonly shared: string;
  readonly logs: string;
  readonly local: string;
  readonly secrets: string;
}

export function allocationDirectories(dataDirectory: string, id: string): AllocationDirectories {
  return placesIn(join(dataDirectory, 'alloc', id));
}

/** The directories of an allocation whose own is `root`. */
export function placesIn(root: string): AllocationDirectories {
  const shared = join(root, sharedName);
  return { root, shared, logs: join(shared, 'logs') };
}

export function taskDirectories(
  { root, shared, logs }: AllocationDirectories,
  task: string,
): TaskDirectories {
  return { shared, logs, ...ownPlaces(join(root, task)) };
}

const ownPlaces = (root: string) => ({
  root,
  local: join(root, 'local'),
  secrets: join(root, 'secrets'),
});

/** Files that the agent keeps for the task, out of the task's sight. */
export const privateDirectory = ({ root }: Pick<TaskDirectories, 'root'>): string =>
  join(root, 'private');

/** Users may pass through the directory of all allocations, but not list it: ids stay unknown. */
const passModeBits = 0o711;
const openModeBits = 0o755;
/** Every task writes here, whatever its user; only the owner of a file removes it. */
const sharedModeBits = 0o1777;
const privateModeBits = 0o700;

export async function makeAllocationDirectories(paths: AllocationDirectories): Promise<void> {
  const isInNew = await makeRoot(paths.root);
  const open = {
    modeBits: openModeBits,
    isInNew,
    mayBeMasked: await restoreTop(paths.root, isInNew),
  };
  const shared = { modeBits: sharedModeBits, isInNew, mayBeMasked: true };
  await make(paths.shared, open);
  await Promise.all([
    make(paths.logs, open),
    make(join(paths.shared, 'tmp'), shared),
    make(join(paths.shared, 'data'), shared),
  ]);
}

/** Gives the directories that all tasks of the allocation share to its user. */
export async function ownSharedDirectories(
  { shared }: AllocationDirectories,
  owner: SystemUser,
  defences?: Defences,
): Promise<void> {
  const paths = ['data', 'tmp'].map((name) => join(shared, name));
  await Promise.all(paths.map((path) => giveDirectory(path, owner, defences)));
}

/**
 * Earlier runs may have made them already. `owner` gets the directories that the task sees. Resolves with whether the
 * task had no directory.
 */
export async function makeTaskDirectories(
  paths: TaskDirectories,
  owner: SystemUser | undefined,
): Promise<boolean> {
  await makeLogs(paths);
  return makeOwnDirectories(paths.root, owner);
}

/** The directories of a task that no other task shares. */
export async function makeOwnDirectories(
  root: string,
  owner: SystemUser | undefined,
): Promise<boolean> {
  const paths = ownPlaces(root);
  const isInNew = await makeIfMissing(paths.root, openModeBits);
  const own = {
    modeBits: privateModeBits,
    isInNew,
    mayBeMasked: await restoreTop(paths.root, isInNew),
  };
  await Promise.all([
    make(privateDirectory(paths), own),
    make(paths.local, { ...own, modeBits: openModeBits, owner }),
    make(paths.secrets, { ...own, owner }),
    make(join(paths.root, 'tmp'), { modeBits: sharedModeBits, isInNew, mayBeMasked: true, owner }),
  ]);
  return isInNew;
}

/**
 * Tasks of older agents could write here, and replace `logs` with something else. Such a
 * replacement is removed first, as the next run would see it.
 */
export async function makeLogs({ shared, logs }: TaskDirectories): Promise<void> {
  const found = await lstat(logs).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  if (found !== undefined) await unlink(logs);
  await makeAllocationDirectories({ root: dirname(shared), shared, logs });
}

/** N1, N2. Rejects when a task has put something else in its place. */
export const giveDirectory = (
  path: string,
  owner: SystemUser,
  defences?: Defences,
): Promise<void> => HeldDirectory.during(path, (held) => held.give(owner), defences);

/** Resolves with whether the root of an allocation was missing. */
async function makeRoot(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: openModeBits });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'EEXIST') throw error;
    // The first allocation of the node finds no directory of all allocations.
    if (code === 'ENOENT') {
      await make(dirname(path), { modeBits: passModeBits, isInNew: false, mayBeMasked: true });
    }
    return makeIfMissing(path, openModeBits);
  }
}

/**
 * Restores the permissions of a new directory that contains others. `false`: the file creation mask took
 * none of them away, and so takes none from directories with the same permissions or fewer.
 */
async function restoreTop(path: string, isNew: boolean): Promise<boolean> {
  if (!isNew) return true;
  const { mode } = await lstat(path);
  if ((mode & 0o7777) === openModeBits) return false;
  await HeldDirectory.during(path, (held) => held.permit(openModeBits));
  return true;
}

interface Making {
  readonly modeBits: number;
  /** The file creation mask may have taken some of `modeBits` away: they are restored. */
  readonly mayBeMasked: boolean;
  /** The directory above it has just been made as well, so that no task can have replaced an entry. */
  readonly isInNew: boolean;
  readonly owner?: SystemUser | undefined;
}

/** An existing directory keeps its permissions. */
async function make(path: string, making: Making): Promise<void> {
  const { modeBits, mayBeMasked, isInNew, owner } = making;
  const isNew = await makeIfMissing(path, modeBits);
  const isToPermit = isNew && mayBeMasked;
  if (!isToPermit && owner === undefined) return;
  if (isInNew && isNew && owner === undefined) return chmod(path, modeBits);
  await HeldDirectory.during(path, async (held) => {
    if (isToPermit) await held.permit(modeBits);
    if (owner !== undefined) await held.give(owner);
  });
}

/**
 * Resolves with whether it was missing; its parent is there. Rejects when something else has its name.
 * A second run finds all directories: `recursive` makes that cheaper than a caught error.
 */
const makeIfMissing = async (path: string, modeBits: number): Promise<boolean> =>
  (await mkdir(path, { mode: modeBits, recursive: true })) !== undefined;

/** N5. */
export async function removeAllocationDirectories({ root }: AllocationDirectories): Promise<void> {
  const above = await HeldDirectory.open(dirname(root)).catch(() => undefined);
  try {
    await above?.remove(basename(root));
  } finally {
    await above?.close();
  }
}
