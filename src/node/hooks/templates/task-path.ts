import type { TaskDirectories } from '../../directories.ts';
import { interpolate, type Lookup } from '../../environment/interpolate.ts';

/** A file by the directory that it has to stay in. */
export interface TaskPath {
  readonly directory: string;
  readonly path: string;
}

/**
 * Where a path of a template leads: below the task's directory, or below the one that the tasks of
 * the allocation share, by whichever name the task knows them. It is not looked whether it escapes.
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
