/** The user ids of this machine that are in use. */
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import type { UidRange } from '../../model/node/uid-range.ts';

const linesOf = (path: string): readonly string[][] => {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .map((line) => line.split(':'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
};

/**
 * Ids of users and groups, and those that users may give to their containers. Ids that
 * `/etc/subuid` sets aside for root are free for the agent.
 */
export function namedRanges(directory = '/etc'): readonly UidRange[] {
  const single = ['passwd', 'group'].flatMap((file) =>
    linesOf(`${directory}/${file}`).map(([, , id]) => ({ start: Number(id), count: 1 })),
  );
  const given = ['subuid', 'subgid'].flatMap((file) =>
    linesOf(`${directory}/${file}`)
      .filter(([user]) => user !== 'root' && user !== '0')
      .map(([, start, count]) => ({ start: Number(start), count: Number(count) })),
  );
  return [...single, ...given].filter(({ start, count }) => start > 0 && count > 0);
}

/** The ids that a process of this user namespace can have. */
export function mappedRanges(path = '/proc/self/uid_map'): readonly UidRange[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([start, , count]) =>
      start === undefined || count === undefined ? [] : [{ start, count }],
    );
}

/** All real, effective, saved and file system user ids of the machine's processes. */
export async function uidsOfProcesses(): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // The process may have ended meanwhile.
    const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '');
    const [, ids = ''] = /^Uid:\s*(.*)$/m.exec(status) ?? [];
    for (const id of ids.split(/\s+/).filter(Boolean)) found.add(Number(id));
  }
  return found;
}
