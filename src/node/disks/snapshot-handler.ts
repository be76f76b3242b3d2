import type { StreamHandler } from '../../model/node-stream/stream-connection.ts';
import type { Defences } from '../defences.ts';
import type { AllocationDirectories } from '../directories.ts';
import { allocationNotHere, writeHead } from '../stream-answer.ts';
import { streamParams } from '../stream-params.ts';
import type { SystemUser } from '../system-user.ts';
import { diskParts } from './disk-parts.ts';

/** The part of an allocation's runner that its successor needs. */
export interface Predecessor {
  readonly directories: AllocationDirectories;
  /** The user of its tasks that named none; `undefined`: the agent's user. */
  readonly ownUser: SystemUser | undefined;
  readonly whenDone: Promise<void>;
  taskNames(): readonly string[];
}

/**
 * Streams of the kind `snapshot`, with the parameter `alloc_id`: the data for the successor of an
 * allocation, as a tar. Waits until the allocation is over, while somebody listens.
 */
export const snapshotHandler =
  (allocation: (id: string) => Predecessor | undefined, defences?: Defences): StreamHandler =>
  async (stream, given) => {
    const id = streamParams(given).text('alloc_id');
    const found = allocation(id);
    if (found === undefined) throw allocationNotHere(id);
    await writeHead(stream);
    const { signal } = stream;
    const isGone = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([found.whenDone, isGone]);
    if (signal.aborted) return;
    const parts = diskParts(found.directories, found.taskNames());
    const { packDisk } = await import('./pack-disk.ts');
    for await (const chunk of packDisk(parts, found.ownUser, defences)) {
      await stream.write(chunk);
    }
  };
