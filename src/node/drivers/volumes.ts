/** The checks of drivers right before they mount volumes. */
import { stat } from 'node:fs/promises';
import { DriverFailure, type DriverTask } from './driver.ts';

/** Rejects with {@link DriverFailure}, which may pass: an operator may bring the directory back. */
export async function checkSources(
  task: Pick<DriverTask, 'volumes' | 'ownUser' | 'tell'>,
): Promise<void> {
  const { volumes = [], ownUser, tell } = task;
  for (const { name, source, isReadOnly } of volumes) {
    const found = await stat(source).catch(() => undefined);
    if (found?.isDirectory() !== true) {
      throw new DriverFailure(`the directory of the host volume "${name}" is not there`, true);
    }
    if (ownUser === undefined || isReadOnly || (found.mode & writableByAll) !== 0) continue;
    tell?.(
      `the host volume "${name}" may not be written by the allocation's own user: ` +
        'name a user in the task who may',
    );
  }
}

const writableByAll = 0o002;
