/**
 * Unpacks an archive into a directory out of reach of tasks.
 *
 * Invariants
 *  U1. Names are checked before an entry is made, and bytes are counted before they are written.
 *  U2. Only directories, files and links are made. Links are made last, so nothing is written
 *      through a link.
 *  U3. Owners in the archive are ignored, and of the modes only the permissions to read, write and
 *      execute count.
 */
import { createWriteStream } from 'node:fs';
import { link, lstat, mkdir, open, stat, symlink, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, type Header } from 'tar-stream';
import { type Entry, openPromise } from 'yauzl';
import { limits } from '../../../model/limits.ts';
import { type ArchiveFormat, nameWithin } from './archives.ts';
import { Budget } from './budget.ts';
import { decompressed, type UnpackSurroundings } from './decompress.ts';
import { entryParts } from './entry-names.ts';
import { ArtifactFailure } from './failure.ts';
import type { ArtifactSettings } from './settings.ts';

export interface Unpacking extends UnpackSurroundings {
  readonly file: string;
  readonly format: ArchiveFormat;
  readonly name: string;
  /** An existing, empty directory. */
  readonly into: string;
  readonly settings: ArtifactSettings;
}

/** Rejects with an {@link ArtifactFailure} or an error of the disk. */
export async function unpack(unpacking: Unpacking): Promise<void> {
  const { file, format, settings, into } = unpacking;
  const { size } = await stat(file);
  const tree = new Tree(into, new Budget(settings, Math.max(size, 1)), unpacking.signal);
  try {
    if (format.container === 'zip') await unpackZip(file, tree);
    else if (format.container === 'tar') await unpackTar(unpacking, tree);
    else {
      const source = decompressed(file, format.compression, unpacking);
      await tree.file(nameWithin(unpacking.name), source, fileModeBits);
    }
    await tree.links();
  } catch (error) {
    throw unreadable(error);
  }
}

const fileModeBits = 0o644;
const directoryModeBits = 0o755;
const modeMask = 0o777;

const clashes = new Set(['EEXIST', 'ENOTDIR', 'EISDIR']);

/** An error of a library as a failure; errors of the system stay. */
function unreadable(error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  if (clashes.has(code ?? '')) {
    return new ArtifactFailure(
      'the archive cannot be read: two of its names are in each other’s way',
    );
  }
  const isSystem = code !== undefined && !/^(Z_|ZSTD_|ERR_ZLIB)/.test(code) && code !== 'ABORT_ERR';
  if (error instanceof ArtifactFailure || isSystem) return error as Error;
  return new ArtifactFailure(`the archive cannot be read: ${message}`);
}

class Tree {
  readonly #root: string;
  readonly #budget: Budget;
  readonly #signal: AbortSignal;
  readonly #links: { readonly parts: readonly string[]; readonly target: string }[] = [];

  constructor(root: string, budget: Budget, signal: AbortSignal) {
    this.#root = root;
    this.#budget = budget;
    this.#signal = signal;
  }

  async directory(name: string, modeBits: number): Promise<void> {
    const parts = entryParts(name);
    if (parts.length === 0) return;
    this.#budget.takeFile();
    // The unpacking agent must be able to enter it.
    await this.#makeParents([...parts, ''], (modeBits & modeMask) | 0o700);
  }

  async file(name: string, source: AsyncIterable<Uint8Array>, modeBits: number): Promise<void> {
    const path = await this.#preparePath(name);
    const budget = this.#budget;
    async function* counted(): AsyncGenerator<Uint8Array> {
      for await (const chunk of source) {
        budget.takeBytes(chunk.length);
        yield chunk;
      }
    }
    const mode = modeBits & modeMask;
    const sink = createWriteStream(path, { flags: 'wx', mode });
    await pipeline(counted, sink, { signal: this.#signal });
    // Restores permissions that the process's file creation mask took away.
    const handle = await open(path, 'r');
    await handle.chmod(mode).finally(() => handle.close());
  }

  link(name: string, target: string): void {
    this.#budget.takeFile();
    this.#links.push({ parts: entryParts(name), target });
  }

  /** Makes another name of an earlier file. */
  async hardLink(name: string, target: string): Promise<void> {
    const parts = entryParts(target);
    const found = await lstat(join(this.#root, ...parts)).catch(() => undefined);
    if (found?.isFile() !== true) {
      throw new ArtifactFailure(
        `it holds a hard link to ${JSON.stringify(target.slice(0, 100))}, which is no file in it`,
      );
    }
    await link(join(this.#root, ...parts), await this.#preparePath(name));
  }

  async links(): Promise<void> {
    for (const { parts, target } of this.#links) {
      await this.#makeParents(parts);
      await symlink(target, join(this.#root, ...parts));
    }
  }

  async #preparePath(name: string): Promise<string> {
    const parts = entryParts(name);
    if (parts.length === 0) throw new ArtifactFailure('it holds a file without a name');
    this.#budget.takeFile();
    await this.#makeParents(parts);
    const path = join(this.#root, ...parts);
    // The last entry of a name wins.
    await unlink(path).catch(() => {});
    return path;
  }

  /** Makes the directories above a path. */
  async #makeParents(parts: readonly string[], modeBits = directoryModeBits): Promise<void> {
    const path = dirname(join(this.#root, ...parts, 'x'));
    const above = parts.at(-1) === '' ? path : dirname(path);
    await mkdir(above, { recursive: true, mode: modeBits });
  }
}

async function unpackTar(unpacking: Unpacking, tree: Tree): Promise<void> {
  const { file, format, signal } = unpacking;
  const entries = extract();
  const source = decompressed(file, format.compression, unpacking);
  const fed = pipeline(source, entries, { signal });
  // Errors of the source also come out of the entries, and are reported there.
  fed.catch(() => {});
  try {
    for await (const entry of entries) {
      await takeTarEntry(entry.header, entry as AsyncIterable<Uint8Array>, tree);
      entry.resume();
    }
  } catch (error) {
    source.destroy();
    await fed.catch(() => {});
    throw error;
  }
  await fed;
}

async function takeTarEntry(
  header: Header,
  entry: AsyncIterable<Uint8Array>,
  tree: Tree,
): Promise<void> {
  const { name, type, mode, linkname } = header;
  switch (type) {
    case 'file':
    case 'contiguous-file':
      return tree.file(name, entry, mode ?? fileModeBits);
    case 'directory':
      return tree.directory(name, mode ?? directoryModeBits);
    case 'symlink':
      return tree.link(name, linkname ?? '');
    case 'link':
      return tree.hardLink(name, linkname ?? '');
    default:
      throw new ArtifactFailure(
        `it holds ${JSON.stringify(name.slice(0, 100))}, a ${type ?? 'thing'}, and only files, directories and links are unpacked`,
      );
  }
}

const typeMask = 0o170000;
const linkType = 0o120000;
const plainTypes = [0, 0o100000, 0o040000];

async function unpackZip(file: string, tree: Tree): Promise<void> {
  const zip = await openPromise(file, { lazyEntries: true, autoClose: false });
  try {
    for await (const entry of zip.eachEntry()) {
      const type = (entry.externalFileAttributes >>> 16) & typeMask;
      const modeBits = (entry.externalFileAttributes >>> 16) & modeMask;
      if (entry.isEncrypted()) throw new ArtifactFailure('the archive is encrypted');
      if (entry.fileName.endsWith('/'))
        await tree.directory(entry.fileName, modeBits || directoryModeBits);
      else if (type === linkType)
        tree.link(entry.fileName, await linkTarget(entry, await zip.openReadStreamPromise(entry)));
      else if (plainTypes.includes(type)) {
        await tree.file(
          entry.fileName,
          await zip.openReadStreamPromise(entry),
          modeBits || fileModeBits,
        );
      } else {
        throw new ArtifactFailure(
          `it holds ${JSON.stringify(entry.fileName.slice(0, 100))}, and only files, directories and links are unpacked`,
        );
      }
    }
  } finally {
    zip.close();
  }
}

async function linkTarget(entry: Entry, source: Readable): Promise<string> {
  if (entry.uncompressedSize > limits.artifact.linkLengthMax) {
    source.destroy();
    throw new ArtifactFailure(
      `the link ${JSON.stringify(entry.fileName.slice(0, 100))} is too long`,
    );
  }
  const chunks: Buffer[] = [];
  for await (const chunk of source as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
