/**
 * Where an allocation's files are. `N1` and the like are the invariants of DESIGN.md.
 * Source: docs/behaviour/client.md#directories.
 */
import { lstat, mkdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { quote } from '../model/path.ts';
import { isPathPart } from '../model/text-rules.ts';
import type { Defences } from './defences.ts';
import { HeldDirectory } from './held-directory.ts';
import type { SystemUser } from './system-user.ts';

/**
 * Why no directory has the name of an allocation or task: with it, a path leads elsewhere.
 * `undefined`: it is all right.
 */
export function unfitPlace(noun: 'allocation' | 'task', name: string): string | undefined {
  if (isPathPart(name) && !(noun === 'task' && isTaken(name))) return undefined;
  return `The ${noun} ${quote(name)} has a name that no directory can have`;
}

const sharedName = 'alloc';

/** What an allocation has besides its tasks: staged data, artifacts, and what is known of these. */
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
  const root = join(dataDirectory, 'alloc', id);
  const shared = join(root, sharedName);
  return { root, shared, logs: join(shared, 'logs') };
}

export function taskDirectories(
  { root, shared, logs }: AllocationDirectories,
  task: string,
): TaskDirectories {
  const directory = join(root, task);
  const inside = (name: string): string => join(directory, name);
  return {
    ...{ root: directory, shared, logs },
    ...{ local: inside('local'), secrets: inside('secrets') },
  };
}

/** What the agent keeps for the task and the task does not see. */
export const privateDirectory = ({ root }: TaskDirectories): string => join(root, 'private');

/** The parent may be passed through and not listed: who has no id finds no allocation. */
const passModeBits = 0o711;
const openModeBits = 0o755;
/** Every task writes here, whatever its user; only the owner of a file removes it. */
const sharedModeBits = 0o1777;
const privateModeBits = 0o700;

export async function makeAllocationDirectories(paths: AllocationDirectories): Promise<void> {
  await make(join(paths.root, '..'), passModeBits);
  await make(paths.root, openModeBits);
  await make(paths.shared, openModeBits);
  await Promise.all([
    make(paths.logs, openModeBits),
    make(join(paths.shared, 'tmp'), sharedModeBits),
    make(join(paths.shared, 'data'), sharedModeBits),
  ]);
}

/** What a task shares with those that are of the same user, and of others. */
export async function ownSharedDirectories(
  { shared }: AllocationDirectories,
  owner: SystemUser,
  defences?: Defences,
): Promise<void> {
  const paths = ['data', 'tmp'].map((name) => join(shared, name));
  await Promise.all(paths.map((path) => giveDirectory(path, owner, defences)));
}

/** Also right after an earlier run made them. `owner` gets those that the task sees. */
export async function makeTaskDirectories(
  paths: TaskDirectories,
  owner: SystemUser | undefined,
): Promise<void> {
  await makeLogs(paths);
  await make(paths.root, openModeBits);
  await make(privateDirectory(paths), privateModeBits);
  const inner = [
    [paths.local, openModeBits],
    [paths.secrets, privateModeBits],
    [join(paths.root, 'tmp'), sharedModeBits],
  ] as const;
  await Promise.all(
    inner.map(async ([path, modeBits]) => {
      await make(path, modeBits);
      if (owner !== undefined) await giveDirectory(path, owner);
    }),
  );
}

/**
 * The agent's own, as long as tasks see it read-only. Under an agent of before they could put
 * something else in its place: then it goes, as it would be shown to the next run.
 */
async function makeLogs({ shared, logs }: TaskDirectories): Promise<void> {
  const found = await lstat(logs).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  if (found !== undefined) await unlink(logs);
  await make(shared, openModeBits);
  await make(logs, openModeBits);
}

/** N1, N2. Rejects where a task put something else in its place. */
export const giveDirectory = (
  path: string,
  owner: SystemUser,
  defences?: Defences,
): Promise<void> => HeldDirectory.during(path, (held) => held.give(owner), defences);

async function make(path: string, modeBits: number): Promise<void> {
  const created = await mkdir(path, { recursive: true, mode: modeBits });
  if (created === undefined) return;
  // The process's file creation mask does not apply to these: what it took away is given back.
  const { mode } = await lstat(path);
  if ((mode & 0o7777) === modeBits) return;
  await HeldDirectory.during(path, (held) => held.permit(modeBits));
}

/** N5. */
export async function removeAllocationDirectories({ root }: AllocationDirectories): Promise<void> {
  const above = await HeldDirectory.open(dirname(root)).catch(() => undefined);
  try {
    await above?.remove(basename(root));
  } finally {
    await above?.close();
  }
}
