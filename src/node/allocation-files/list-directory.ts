import type { Dir, Stats } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import type { FileInfo } from '../../model/allocation/file-info.ts';
import { limits } from '../../model/limits.ts';
import { descriptorPath } from '../plain-file.ts';
import { fileInfo } from './file-info.ts';
import type { Found } from './path-walk.ts';

export interface DirectoryPage {
  /** Sorted by name. Links are listed as links, not followed. */
  readonly files: readonly FileInfo[];
  /** The name with which the next page begins; `undefined` on the last page. */
  readonly next: string | undefined;
}

/**
 * One page of a directory, from the name `from` on. Only the names of about two pages are in memory
 * at a time, however large the directory is. `undefined`: it has more names than the limit.
 */
export async function listDirectory(
  { handle }: Pick<Found, 'handle'>,
  { from, most }: { readonly from: string; readonly most: number },
): Promise<DirectoryPage | undefined> {
  const path = descriptorPath(handle);
  const names = await firstNames(await opendir(path), from, most + 1);
  if (names === undefined) return undefined;
  const files = await Promise.all(names.slice(0, most).map((name) => infoOf(path, name)));
  return { files: files.filter((file) => file !== undefined), next: names[most] };
}

async function firstNames(directory: Dir, from: string, count: number) {
  let names: string[] = [];
  const keepFirst = () => {
    names = names.sort(byCodeUnit).slice(0, count);
  };
  let seen = 0;
  for await (const { name } of directory) {
    seen++;
    if (seen > limits.files.namesMax) return undefined;
    if (name < from) continue;
    names.push(name);
    if (names.length >= 2 * count) keepFirst();
  }
  keepFirst();
  return names;
}

const byCodeUnit = (left: string, right: string): number => (left < right ? -1 : 1);

/** `undefined` when the entry has gone meanwhile. */
const infoOf = (path: string, name: string): Promise<FileInfo | undefined> =>
  lstat(`${path}/${name}`).then(
    (stats: Stats) => fileInfo(name, stats),
    () => undefined,
  );
