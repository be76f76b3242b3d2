import type { Stats } from 'node:fs';
import { constants } from 'node:fs';
import type { FileInfo } from '../../model/allocation/file-info.ts';

export const fileInfo = (name: string, stats: Stats): FileInfo => ({
  Name: name,
  IsDir: stats.isDirectory(),
  Size: stats.size,
  FileMode: modeText(stats),
  ModTime: stats.mtime.toISOString(),
});

const { S_IFMT, S_IFDIR, S_IFLNK, S_IFIFO, S_IFSOCK, S_IFBLK, S_IFCHR } = constants;

/** Letters for kinds of files, as existing clients know them. */
const kinds: ReadonlyMap<number, string> = new Map([
  [S_IFDIR, 'd'],
  [S_IFLNK, 'L'],
  [S_IFIFO, 'p'],
  [S_IFSOCK, 'S'],
  [S_IFBLK, 'D'],
  [S_IFCHR, 'Dc'],
]);

const flags = [
  [0o4000, 'u'],
  [0o2000, 'g'],
  [0o1000, 't'],
] as const;

/** `-rw-r--r--`, `drwxr-xr-x`, `dtrwxrwxrwx` for a sticky directory. */
export function modeText({ mode }: Pick<Stats, 'mode'>): string {
  const kind =
    (kinds.get(mode & S_IFMT) ?? '') +
    flags.map(([bit, letter]) => (mode & bit ? letter : '')).join('');
  const permissions = [...'rwxrwxrwx'].map((letter, at) => (mode & (0o400 >> at) ? letter : '-'));
  return (kind || '-') + permissions.join('');
}

/** Why a file cannot be read. `undefined`: it can. */
export function unfitReason(stats: Stats): string | undefined {
  if (stats.isFile()) return undefined;
  if (stats.isDirectory()) return 'it is a directory';
  if (stats.isFIFO()) return 'it is a named pipe';
  if (stats.isSocket()) return 'it is a socket';
  return 'it is a device';
}
