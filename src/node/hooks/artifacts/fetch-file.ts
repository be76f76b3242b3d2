import { constants, createWriteStream } from 'node:fs';
import {
  chmod,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readlink,
  stat,
  symlink,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { findOnly, openPlainFile } from '../../plain-file.ts';
import type { Budget } from './budget.ts';
import { ArtifactFailure } from './failure.ts';

/** Permission bits: others may read a file, and pass through a directory. */
const readableBits = 0o004;
const passableBits = 0o001;

export interface LocalSource {
  readonly kind: 'file' | 'directory';
  readonly path: string;
}

/**
 * Finds a file or directory of this machine that every user may read: the agent may read more, and
 * must not pass that on.
 * @throws ArtifactFailure
 */
export async function findLocal(path: string): Promise<LocalSource> {
  let handle: FileHandle;
  try {
    // Looked at without opening it, as it may be a device.
    handle = await open(path, findOnly);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'ENOENT' || code === 'ENOTDIR' ? absent(path) : closed(path);
  }
  try {
    // The handle's own path, as the name may lead elsewhere by now.
    const real = await readlink(`/proc/self/fd/${handle.fd}`);
    const found = await handle.stat();
    if (!found.isFile() && !found.isDirectory()) throw closed(path);
    if ((found.mode & readableBits) === 0) throw closed(path);
    if (found.isDirectory() && (found.mode & passableBits) === 0) throw closed(path);
    for (let above = dirname(real); ; above = dirname(above)) {
      if (((await stat(above)).mode & passableBits) === 0) throw closed(path);
      if (above === '/') break;
    }
    return { kind: found.isFile() ? 'file' : 'directory', path: real };
  } finally {
    await handle.close();
  }
}

const absent = (path: string) => new ArtifactFailure(`there is no "${path}" on this node`, true);

const closed = (path: string) =>
  new ArtifactFailure(
    `"${path}" is nothing that every user of this node may read, and only that is taken`,
  );

/** Copies a file of `findLocal`. Bytes are counted before they are written. */
export async function copyFile(
  from: string,
  to: string,
  budget: Budget,
  signal: AbortSignal,
): Promise<void> {
  const handle = await openPlainFile(from, constants.O_RDONLY, { mayHaveNames: true });
  const { mode } = await handle.stat();
  if ((mode & readableBits) === 0) {
    await handle.close();
    throw closed(from);
  }
  async function* counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      budget.takeBytes(chunk.length);
      yield chunk;
    }
  }
  await pipeline(handle.createReadStream(), counted, createWriteStream(to, { flags: 'wx' }), {
    signal,
  });
  await chmod(to, mode & 0o777);
}

/** Copies the content of a directory, with links as they are, into an empty one. */
export async function copyDirectory(
  from: string,
  to: string,
  budget: Budget,
  signal: AbortSignal,
): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    signal.throwIfAborted();
    budget.takeFile();
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else if (entry.isDirectory()) {
      const { mode } = await stat(source);
      if ((mode & readableBits) === 0 || (mode & passableBits) === 0) throw closed(source);
      await mkdir(target);
      await chmod(target, (mode & 0o777) | 0o700);
      await copyDirectory(source, target, budget, signal);
    } else if (entry.isFile()) await copyFile(source, target, budget, signal);
    else throw closed(source);
  }
}
