import { stat } from 'node:fs/promises';
import {
  type HostVolumes,
  hostVolumeNameFault,
  hostVolumePathFault,
} from '../../model/volume/host-volume.ts';

/** The volumes that the node offers. Rejects with a sentence about all that it cannot. */
export async function findHostVolumes(wanted: HostVolumes): Promise<HostVolumes> {
  const faults = await Promise.all(
    Object.entries(wanted).map(async ([name, { Path }]) => {
      const fault = hostVolumeNameFault(name);
      if (fault !== undefined) return [`the name "${name}" ${fault}`];
      const lack = hostVolumePathFault(Path) ?? (await lackOf(Path));
      return lack === undefined ? [] : [`the path "${Path}" of "${name}" ${lack}`];
    }),
  );
  const all = faults.flat();
  if (all.length > 0) throw new Error(`host volumes cannot be offered: ${all.join('; ')}`);
  return wanted;
}

async function lackOf(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).isDirectory() ? undefined : 'is not a directory';
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? 'does not exist' : `cannot be used: ${message}`;
  }
}
