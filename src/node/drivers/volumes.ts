/** What drivers make sure of right before they mount volumes. */
import { stat } from 'node:fs/promises';
import { DriverFailure, type DriverTask } from './driver.ts';

/** Rejects with {@link DriverFailure}; the operator may bring the directory back. */
export async function checkSources({ volumes = [] }: Pick<DriverTask, 'volumes'>): Promise<void> {
  for (const { name, source } of volumes) {
    const found = await stat(source).catch(() => undefined);
    if (found?.isDirectory() === true) continue;
    throw new DriverFailure(`the directory of the host volume "${name}" is not there`, true);
  }
}
