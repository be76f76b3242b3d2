import { constants, promises } from 'node:fs';
import { kernelLogLimits } from '../../limits.ts';

/**
 * Whether the kernel's log says that a process of this container was killed for lack of memory.
 * Runtimes may miss that, when their watcher ends too early. `false` if the log may not be read.
 */
export async function kernelKilledForMemory(containerId: string): Promise<boolean> {
  const file = await promises
    .open('/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK)
    .catch(() => undefined);
  if (file === undefined) return false;
  const buffer = Buffer.alloc(kernelLogLimits.recordBytesMax);
  try {
    for (let count = 0; count < kernelLogLimits.recordsMax; count++) {
      // Each read gives one record. EPIPE: it was overwritten meanwhile. EAGAIN: it was the last.
      const bytes = await file.read(buffer, 0, kernelLogLimits.recordBytesMax, null).then(
        ({ bytesRead }) => bytesRead,
        (error: NodeJS.ErrnoException) => (error.code === 'EPIPE' ? 0 : -1),
      );
      if (bytes < 0) return false;
      if (isKillOf(buffer.toString('latin1', 0, bytes), containerId)) return true;
    }
    return false;
  } finally {
    await file.close().catch(() => {});
  }
}

const isKillOf = (record: string, containerId: string): boolean =>
  record.includes('oom-kill:') && record.includes(containerId);
