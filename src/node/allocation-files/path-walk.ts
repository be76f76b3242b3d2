/**
 * Finds a file below a directory that tasks may change meanwhile, so that readers never reach
 * anything outside of it. Source: docs/behaviour/client.md#directories.
 *
 * Invariants
 *  P1. Each step goes from an open directory to one of its entries, and follows no link: entries
 *      that tasks move or replace meanwhile cannot lead out of the open directories.
 *  P2. Links are read, and their targets walked by the same steps. A link that leaves the root is
 *      refused, even if it would come back.
 *  P3. No path leads into `<name>/secrets` or `<name>/private` below the root.
 *  P4. Only directories are opened. The file is held by an `O_PATH` descriptor, which neither reads
 *      nor writes nor wakes a device, until {@link openToRead} opens it.
 */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, readlink } from 'node:fs/promises';
import { limits } from '../../model/limits.ts';
import { allDefences, type Defences } from '../defences.ts';
import { descriptorPath, findOnly, mayBeForeign } from '../plain-file.ts';

/** Why a path leads to no file that may be read. */
export type WalkFault =
  | 'missing'
  | 'escapes'
  | 'secret'
  | 'too-many-links'
  | 'too-deep'
  | 'unreadable'
  | 'changed';

export class WalkFailure extends Error {
  override readonly name = 'WalkFailure';
  readonly fault: WalkFault;

  constructor(fault: WalkFault) {
    super(`the path is ${fault}`);
    this.fault = fault;
  }
}

export interface Found {
  /** Holds the file while it is open; it can be neither read nor written. */
  readonly handle: FileHandle;
  readonly stats: Stats;
  /** The names from the root to the file, without links; empty for the root itself. */
  readonly names: readonly string[];
}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY, O_RDONLY } = constants;
/**
 * `path` begins at `root`, with or without a slash. Links are followed, also at the end. The caller
 * closes the handle.
 * @throws WalkFailure
 */
export async function walk(
  root: string,
  path: string,
  { heldPaths }: Defences = allDefences,
): Promise<Found> {
  if (!heldPaths) return walkedByNobody(`${root}/${path}`);
  const opened: FileHandle[] = [];
  try {
    const found = await new Walk(root, opened).go(path);
    opened.splice(opened.indexOf(found.handle), 1);
    return found;
  } finally {
    await Promise.all(opened.map((handle) => handle.close()));
  }
}

/**
 * Opens the found file for reading: that very file, whatever is at its path by now.
 * @throws WalkFailure `unreadable`
 */
export async function openToRead({ handle, stats }: Omit<Found, 'names'>): Promise<FileHandle> {
  if (await mayBeForeign(stats)) throw new WalkFailure('unreadable');
  return opening(open(descriptorPath(handle), O_RDONLY | O_NONBLOCK | O_NOCTTY));
}

async function walkedByNobody(path: string): Promise<Found> {
  const handle = await opening(open(path, findOnly));
  return { handle, stats: await handle.stat(), names: path.split('/') };
}

class Walk {
  readonly #root: string;
  /** Every handle that was opened; the caller closes them. */
  readonly #opened: FileHandle[];
  /** The open directories from the root to the present one. */
  readonly #directories: FileHandle[] = [];
  readonly #names: string[] = [];
  #left: string[] = [];
  #links = 0;

  constructor(root: string, opened: FileHandle[]) {
    this.#root = root;
    this.#opened = opened;
  }

  async go(path: string): Promise<Found> {
    this.#left = path.split('/').reverse();
    this.#directories.push(await this.#open(this.#root, findOnly | O_DIRECTORY));
    for (let name = this.#left.pop(); name !== undefined; name = this.#left.pop()) {
      if (name === '' || name === '.') continue;
      const file = name === '..' ? this.#goUp() : await this.#goDown(name);
      if (file !== undefined) return file;
    }
    const handle = this.#directories.at(-1)!;
    return { handle, stats: await handle.stat(), names: this.#names };
  }

  #goUp(): undefined {
    if (this.#names.length === 0) throw new WalkFailure('escapes');
    this.#names.pop();
    this.#directories.pop();
  }

  /** Resolves with the file when the entry is no directory. */
  async #goDown(name: string): Promise<Found | undefined> {
    if (isSecret([...this.#names, name])) throw new WalkFailure('secret');
    const path = `${descriptorPath(this.#directories.at(-1)!)}/${name}`;
    const handle = await this.#open(path, findOnly | O_NOFOLLOW);
    const stats = await handle.stat();
    if (stats.isSymbolicLink()) {
      await this.#followLink(path);
    } else if (stats.isDirectory()) {
      if (this.#names.length === limits.files.depthMax) throw new WalkFailure('too-deep');
      this.#names.push(name);
      this.#directories.push(handle);
    } else if (this.#left.some((part) => part !== '')) {
      throw new WalkFailure('missing');
    } else {
      return { handle, stats, names: [...this.#names, name] };
    }
    return undefined;
  }

  async #followLink(path: string): Promise<void> {
    this.#links++;
    if (this.#links > limits.files.linksMax) throw new WalkFailure('too-many-links');
    const target = await readlink(path).catch(() => {
      throw new WalkFailure('changed');
    });
    this.#left.push(...this.#pathInside(target).split('/').reverse());
  }

  /** A task without isolation makes links with the host's paths of its directories. */
  #pathInside(target: string): string {
    if (!target.startsWith('/')) return target;
    if (target !== this.#root && !target.startsWith(`${this.#root}/`)) {
      throw new WalkFailure('escapes');
    }
    this.#names.length = 0;
    this.#directories.length = 1;
    return target.slice(this.#root.length);
  }

  async #open(path: string, flags: number): Promise<FileHandle> {
    const handle = await opening(open(path, flags));
    this.#opened.push(handle);
    return handle;
  }
}

/** P3. */
const isSecret = ([, second]: readonly string[]): boolean =>
  second === 'secrets' || second === 'private';

const faultCodes: Readonly<Record<string, WalkFault>> = {
  ENOENT: 'missing',
  ENOTDIR: 'missing',
  ENAMETOOLONG: 'missing',
  ENXIO: 'missing',
  EACCES: 'unreadable',
  EPERM: 'unreadable',
};

async function opening(wanted: Promise<FileHandle>): Promise<FileHandle> {
  try {
    return await wanted;
  } catch (error) {
    const fault = faultCodes[(error as NodeJS.ErrnoException).code ?? ''];
    throw fault === undefined ? error : new WalkFailure(fault);
  }
}
