import { findMemoryMounts } from '../memory-mounts/mounts.ts';

/** Whether this user may mount on this machine. */
export async function canMount(): Promise<boolean> {
  const { mounts } = await findMemoryMounts('/tmp');
  await mounts?.close();
  return mounts !== undefined;
}
