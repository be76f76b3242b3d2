import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ids } from '../../base/ports.ts';
import type { SnapshotStore } from './schedule.ts';

/** Keeps snapshots in a directory, which is made if it is not there. Only its user may read them. */
export function snapshotDirectory(directory: string, ids: Ids): SnapshotStore {
  const made = () => mkdir(directory, { recursive: true, mode: 0o700 });
  return {
    async list() {
      await made();
      return readdir(directory);
    },
    async write(name, pieces) {
      await made();
      const temporary = join(directory, `.${name}.${ids.uuid()}`);
      try {
        await writeWhole(temporary, pieces);
        await rename(temporary, join(directory, name));
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
      // The new name is durable once its directory is.
      const held = await open(directory);
      await held.sync().finally(() => held.close());
    },
    read: (name) => createReadStream(join(directory, name)),
    remove: (name) => rm(join(directory, name), { force: true }),
  };
}

async function writeWhole(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const piece of pieces) await file.writeFile(piece);
    await file.sync();
  } finally {
    await file.close();
  }
}
