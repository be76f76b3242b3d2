import { createWriteStream } from 'node:fs';
import { chmod, lchown, lutimes, mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, type Header } from 'tar-stream';
import { limits } from '../../model/limits.ts';
import type { SystemUser } from '../system-user.ts';
import { otherName, ownName, ownUserOnTheWay } from './owner-names.ts';

export interface UnpackOptions {
  readonly signal: AbortSignal;
  /** The successor's own user; `undefined`: the agent's. */
  readonly heir: SystemUser | undefined;
}

/**
 * Unpacks an archive of `packDisk` into a directory that nobody else reaches. Links are made last,
 * so nothing is written through a link. Owners are kept if the agent may set them; files of the
 * predecessor's own user go to the heir.
 */
export async function unpackDisk(
  source: AsyncIterable<Uint8Array>,
  into: string,
  { signal, heir }: UnpackOptions,
): Promise<void> {
  const entries = extract();
  // Kept here, as the loop over the entries may see only their end and not the error.
  let broken: unknown;
  async function* told(): AsyncGenerator<Uint8Array> {
    try {
      yield* source;
    } catch (error) {
      broken = error;
      throw error;
    }
  }
  const fed = pipeline(Readable.from(told()), entries, { signal });
  fed.catch(() => {});
  const links: (() => Promise<void>)[] = [];
  const directories: (() => Promise<void>)[] = [];
  let files = 0;
  let bytes = 0;
  async function* counted(chunks: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > limits.disk.bytesMax) throw new Error('it is too large');
      yield chunk;
    }
  }
  try {
    for await (const entry of entries) {
      if (++files > limits.disk.filesMax) throw new Error('it holds too many files');
      const { header } = entry;
      const path = join(into, ...partsOf(header.name));
      await mkdir(dirname(path), { recursive: true });
      if (header.type === 'directory') {
        await mkdir(path, { recursive: true });
        directories.push(() => dress(path, header, heir));
      } else if (header.type === 'symlink') {
        links.push(async () => {
          await symlink(header.linkname, path);
          await own(path, header, heir);
        });
      } else {
        await pipeline(counted(entry), createWriteStream(path, { flags: 'wx', mode: 0o600 }));
        await dress(path, header, heir);
      }
      entry.resume();
    }
  } catch (error) {
    await fed.catch(() => {});
    throw broken ?? error;
  }
  await fed;
  // The innermost directories first, as permissions of the outer ones may shut the agent out.
  for (const make of [...links, ...directories.reverse()]) await make();
}

function partsOf(name: string): readonly string[] {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (name.startsWith('/') || parts.length === 0 || parts.includes('..')) {
    throw new Error(`it holds the name ${JSON.stringify(name.slice(0, 100))}`);
  }
  return parts;
}

async function dress(path: string, header: Header, heir: SystemUser | undefined): Promise<void> {
  await own(path, header, heir);
  await chmod(path, header.mode & 0o777);
  await lutimes(path, header.mtime, header.mtime);
}

async function own(path: string, header: Header, heir: SystemUser | undefined): Promise<void> {
  const isHeirs = header.uname === ownName || isOfNobody(header);
  if (isHeirs && heir === undefined) return;
  const { uid, gid } = isHeirs ? heir! : header;
  await lchown(path, uid, gid).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPERM') throw error;
  });
}

/** Whether the owner is nobody, as in archives of agents without own users. */
const isOfNobody = ({ uname, uid }: Header): boolean =>
  uname !== otherName && uid === ownUserOnTheWay.uid;
