/** Which user ids of this machine are spoken for. */
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
 * Ids that users and groups have, and those that users may give to their containers. What is
 * set aside for root in `/etc/subuid` is set aside for the agent.
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

/** What a process of this user namespace can be. */
export function mappedRanges(path = '/proc/self/uid_map'): readonly UidRange[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([start, , count]) =>
      start === undefined || count === undefined ? [] : [{ start, count }],
    );
}

/** Every user id that a process of the machine has, in whatever of its four places. */
export async function uidsOfProcesses(): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // It may have ended meanwhile.
    const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '');
    const [, ids = ''] = /^Uid:\s*(.*)$/m.exec(status) ?? [];
    for (const id of ids.split(/\s+/).filter(Boolean)) found.add(Number(id));
  }
  return found;
}
