import type { TaskDirectories } from '../../directories.ts';
import { interpolate, type Lookup } from '../../environment/interpolate.ts';

/** A path in a directory that it must stay in. */
export interface TaskPath {
  readonly directory: string;
  readonly path: string;
}

/**
 * Resolves a path of a template: below the task's directory or the allocation's shared one, under
 * any name that the task has for them. Whether it leads out is not checked here.
 */
export function taskPath(written: string, lookup: Lookup, directories: TaskDirectories): TaskPath {
  const { root, shared } = directories;
  const text = interpolate(written, lookup);
  const below = (prefix: string): string | undefined =>
    text.startsWith(`${prefix}/`) ? text.slice(prefix.length + 1) : undefined;
  const inRoot = below(root);
  if (inRoot !== undefined) return { directory: root, path: inRoot };
  const inShared = below(shared) ?? below('/alloc');
  if (inShared !== undefined) return { directory: shared, path: inShared };
  return { directory: root, path: text };
}
