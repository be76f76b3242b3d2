import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** What an agent that was killed left mounted, which its successor would have swept. */
export function unmountBelow(root: string): void {
  const mounted = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${root}/`));
  if (mounted.length > 0) spawnSync('umount', ['-l', ...mounted]);
}
