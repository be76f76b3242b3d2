import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Unmounts the mounts of a killed agent, which its successor would have done. */
export function unmountBelow(root: string): void {
  const mounted = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${root}/`));
  if (mounted.length > 0) spawnSync('umount', ['-l', ...mounted]);
}
