import { constants, type Stats } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { type Pack, pack } from 'tar-stream';
import { limits } from '../../model/limits.ts';
import type { Defences } from '../defences.ts';
import { HeldDirectory } from '../held-directory.ts';
import { openPlainFile, UnfitFile } from '../plain-file.ts';
import type { SystemUser } from '../system-user.ts';
import { otherName, ownName, ownUserOnTheWay } from './owner-names.ts';

export interface PackedDirectory {
  readonly path: string;
  readonly name: string;
}

/**
 * The directories as a tar, at the reader's pace: files, directories and links with their owners.
 * Links are not followed; entries of other kinds and missing directories are left out. Files of
 * `ownUser` are marked with a name, as its number is another user elsewhere.
 */
export async function* packDisk(
  directories: readonly PackedDirectory[],
  ownUser: SystemUser | undefined,
  defences?: Defences,
): AsyncGenerator<Uint8Array, void, void> {
  const packing = pack();
  const target = { packing, ownUser, defences };
  const packed = packAll(target, directories).then(
    () => packing.finalize(),
    (error: Error) => packing.destroy(error),
  );
  try {
    for await (const chunk of packing) yield chunk as Uint8Array;
  } finally {
    packing.destroy();
    await packed;
  }
}

interface Target {
  readonly packing: Pack;
  readonly ownUser: SystemUser | undefined;
  readonly defences: Defences | undefined;
}

async function packAll(target: Target, directories: readonly PackedDirectory[]): Promise<void> {
  for (const { path, name } of directories) {
    const held = await HeldDirectory.open(path, target.defences).catch(() => undefined);
    if (held !== undefined) await packDirectory(target, held, name, 0);
  }
}

/** Closes the directory. */
async function packDirectory(
  target: Target,
  held: HeldDirectory,
  name: string,
  depth: number,
): Promise<void> {
  const { packing, ownUser } = target;
  try {
    if (depth > limits.disk.depthMax) throw new Error(`"${name}" is too deep`);
    for (const entry of (await readdir(held.at(''))).sort()) {
      const found = await lstat(held.at(entry));
      const header = { ...attributes(found, ownUser), name: `${name}/${entry}` };
      if (found.isDirectory()) {
        await written(packing, { ...header, type: 'directory' });
        await packDirectory(target, await held.enter(entry), header.name, depth + 1);
      } else if (found.isSymbolicLink()) {
        const linkname = await readlink(held.at(entry));
        await written(packing, { ...header, type: 'symlink', linkname });
      } else if (found.isFile()) await packFile(target, held.at(entry), header.name);
    }
  } finally {
    await held.close();
  }
}

type Header = Parameters<Pack['entry']>[0];

const written = (packing: Pack, header: Header): Promise<void> =>
  new Promise((resolve, reject) => {
    packing.entry(header, '', (error) => (error ? reject(error) : resolve()));
  });

async function packFile({ packing, ownUser }: Target, path: string, name: string) {
  // An entry that was replaced meanwhile by another kind is left out too.
  const handle = await openPlainFile(path, constants.O_RDONLY, { mayHaveNames: true }).catch(
    (error: Error) => {
      if (error instanceof UnfitFile) return undefined;
      throw error;
    },
  );
  if (handle === undefined) return;
  const found = await handle.stat();
  const header = { ...attributes(found, ownUser), name, size: found.size };
  if (found.size === 0) {
    await handle.close();
    return written(packing, header);
  }
  const source = handle.createReadStream({ end: found.size - 1 });
  await pipeline(source, packing.entry(header) as never);
}

function attributes({ mode, uid, gid, mtime }: Stats, ownUser: SystemUser | undefined) {
  const isOwn = uid === ownUser?.uid;
  const owner = isOwn ? { ...ownUserOnTheWay, uname: ownName } : { uid, gid, uname: otherName };
  return { mode: mode & 0o777, mtime, ...owner };
}
