/**
 * Finds a file below a directory that tasks have in their hands, so that whoever asks for it never
 * gets at anything outside. Source: docs/behaviour/client.md#directories.
 *
 * Invariants
 *  P1. Each step is taken from an open directory to one name in it, and follows no link: what tasks
 *      move or replace meanwhile leads nowhere but to what an open directory held.
 *  P2. Links are read, and walked by the same steps. One that leaves the root is refused, also when
 *      it would come back.
 *  P3. Nothing in `<name>/secrets` and `<name>/private` below the root is found, by whatever way.
 *  P4. Nothing is opened but directories: what is found is held by a descriptor that neither reads
 *      nor writes nor wakes what is behind it (`O_PATH`), until {@link openToRead} says so.
 */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, readlink } from 'node:fs/promises';
import { limits } from '../../model/limits.ts';
import { allDefences, type Defences } from '../defences.ts';
import { descriptorPath, findOnly, mayBeForeign } from '../plain-file.ts';

/** Why a path leads to nothing that may be read. */
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
  /** Names a file for as long as it is open; it can be neither read nor written. */
  readonly handle: FileHandle;
  readonly stats: Stats;
  /** Below the root, without links; of the root itself there are none. */
  readonly names: readonly string[];
}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY, O_RDONLY } = constants;
/**
 * `path` begins at `root`, with a slash or without. The caller closes what is found. Links are
 * followed, the last one, too.
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
 * Opens what was found for reading: that very file, whatever is at its path by now.
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
  /** All that was opened, for whoever cleans up. */
  readonly #opened: FileHandle[];
  /** The directories from the root to where the walk is. */
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

  /** What is found when it is no directory. */
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
    this.#left.push(...this.#inside(target).split('/').reverse());
  }

  /** A task without isolation sees the path of its directories on the host, and links by it. */
  #inside(target: string): string {
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
