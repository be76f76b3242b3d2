/** Archives that depend on nothing but the names and contents of their files. */
import { createReadStream, createWriteStream, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Pack, pack } from 'tar-stream';

interface TarOptions {
  /** Of all files, in seconds. */
  readonly epochS: number;
  /** The beginning of all names. */
  readonly prefix?: string;
  /** Directories that others than root own, or that have another mode than 755. The group has the number of the owner. */
  readonly directories?: Readonly<
    Record<string, { readonly owner: number; readonly mode: number }>
  >;
}

/** Writes the tree below `folder` to a tar file, gzipped if its name says so. */
export async function writeTar(folder: string, path: string, options: TarOptions): Promise<void> {
  const archive = pack();
  const out = createWriteStream(path);
  const written = path.endsWith('.gz')
    ? pipeline(archive, createGzip(), out)
    : pipeline(archive, out);
  const adding = addAll(archive, folder, options);
  await Promise.all([adding.then(() => archive.finalize()), written]);
}

async function addAll(
  archive: Pack,
  folder: string,
  { epochS, prefix = '', directories = {} }: TarOptions,
): Promise<void> {
  const mtime = new Date(epochS * 1000);
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    const header = { name: `${prefix}${name}`, mtime, uid: 0, gid: 0 };
    if (stat.isDirectory()) {
      const { owner, mode } = directories[name] ?? { owner: 0, mode: 0o755 };
      archive.entry({ ...header, type: 'directory', mode, uid: owner, gid: owner });
    } else if (stat.isSymbolicLink()) {
      archive.entry({ ...header, type: 'symlink', linkname: readlinkSync(path), mode: 0o777 });
    } else {
      const mode = (stat.mode & 0o111) === 0 ? 0o644 : 0o755;
      const entry = archive.entry({ ...header, size: stat.size, mode });
      await pipeline(createReadStream(path), entry);
    }
  }
}
