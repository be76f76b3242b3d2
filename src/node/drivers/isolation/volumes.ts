/** Checks of volumes in sandboxes: impossible ones are refused (I2), and no link redirects one. */
import { lstat } from 'node:fs/promises';
import { posix } from 'node:path';
import { DriverFailure, type DriverTask, type DriverVolume } from '../driver.ts';
import { checkSources } from '../volumes.ts';
import type { IsolationTools } from './settings.ts';
import { type HostView, mountOf } from './view.ts';

/** Rejects with {@link DriverFailure}. Nothing else may write to the task's directories. */
export async function checkVolumes(
  task: DriverTask,
  { view, defences }: Pick<IsolationTools, 'view' | 'defences'>,
): Promise<void> {
  await checkSources(task);
  for (const volume of task.volumes ?? []) {
    const { propagation, seLinuxLabel } = volume;
    if (propagation === 'bidirectional') {
      throw refused(volume, 'mounts of a sandbox never reach the machine (bidirectional)');
    }
    if (seLinuxLabel !== '') throw refused(volume, 'only containers have labels of SELinux');
    if (defences.heldPaths) await checkPlace(task, volume, view);
  }
}

/**
 * Checks the directories on the way to the mount point: through a link among them, `bwrap` as the
 * agent's user would make directories at the link's target.
 */
async function checkPlace(task: DriverTask, volume: DriverVolume, view: HostView): Promise<void> {
  const { destination } = volume;
  const mount = mountOf(view, task.directories, destination);
  if (mount === undefined) return;
  const parts = destination.slice(mount.inside.length).split('/').filter(Boolean);
  let path = mount.host;
  for (const part of parts) {
    path = posix.join(path, part);
    const found = await lstat(path).catch(() => undefined);
    if (found === undefined) {
      if (mount.isOwn) return;
      throw refused(
        volume,
        'the task sees that part of the machine read-only, and it has no such directory',
      );
    }
    if (!found.isDirectory()) throw refused(volume, 'a file or a link is in the way');
  }
}

const refused = ({ name, destination }: DriverVolume, why: string): DriverFailure =>
  new DriverFailure(`the volume "${name}" cannot be mounted at "${destination}": ${why}`, false);
