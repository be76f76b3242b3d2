/**
 * File systems in memory, for directories whose content must not reach a disk.
 *
 * Invariants
 *  M1. Mounts are made and removed only below the data directory.
 *  M2. The machine's table of mounts is the only record, so that the next agent finds the mounts of
 *      an agent that died.
 */
import { mkdir, readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandFailure, MountShell } from './mount-shell.ts';

export interface MemoryMount {
  readonly path: string;
  readonly sizeMb: number;
  readonly uid: number;
  readonly gid: number;
  /** The directory has just been made: nothing is mounted there. */
  readonly isNew?: boolean;
}

export interface MemoryMounts {
  /** Mounts the directories that are not mounted yet. Rejects when a mount fails. */
  mount(wanted: readonly MemoryMount[]): Promise<void>;
  /** Unmounts all at these directories or below. A mount in use goes with its last user. */
  unmount(directories: readonly string[]): Promise<void>;
  /** The mount points below the data directory. */
  mounted(): Promise<readonly string[]>;
  /** Resolves once nothing is under way. Mounts stay. */
  close(): Promise<void>;
}

/** `undefined`, with the reason, when this user or machine cannot mount. */
export async function findMemoryMounts(
  dataDirectory: string,
): Promise<{ readonly mounts?: MemoryMounts; readonly reason?: string }> {
  const probe = join(dataDirectory, 'mount-probe');
  const shell = new MountShell();
  try {
    await mkdir(probe, { recursive: true, mode: 0o700 });
    const mounts = new SystemMounts(shell, dataDirectory, await realpath(dataDirectory));
    const wanted = [{ path: probe, sizeMb: 1, uid: 0, gid: 0 }];
    await mounts.mount(wanted).catch(() => {
      mounts.leaveLists();
      return mounts.mount(wanted);
    });
    await mounts.unmount([probe]);
    return { mounts };
  } catch (error) {
    shell.close();
    return { reason: (error as Error).message };
  } finally {
    await rm(probe, { recursive: true, force: true }).catch(() => {});
  }
}

/** Requests that gather while another one runs, to be done together after it. */
interface Batch<T> {
  readonly wishes: T[];
  hasBegun: boolean;
  readonly done: Promise<void>;
}

class SystemMounts implements MemoryMounts {
  readonly #shell: MountShell;
  readonly #root: string;
  /** The same path without links, as in the table of mounts. */
  readonly #realRoot: string;
  /** Requests run one after the other, as each reads the table before it acts. */
  #last: Promise<unknown> = Promise.resolve();
  #mounting: Batch<MemoryMount> | undefined;
  #unmounting: Batch<string> | undefined;
  #takesLists = true;

  constructor(shell: MountShell, root: string, realRoot: string) {
    this.#shell = shell;
    this.#root = root;
    this.#realRoot = realRoot;
  }

  /** The machine's mount program takes no lists, as that of BusyBox does not. */
  leaveLists(): void {
    this.#takesLists = false;
  }

  async mount(wanted: readonly MemoryMount[]): Promise<void> {
    if (wanted.length === 0) return;
    this.#unmounting = undefined;
    this.#mounting = this.#joinBatch(this.#mounting, wanted, (all) => this.#mountMissing(all));
    await this.#outcome(this.#mounting, wanted, (own) =>
      // Some of them may be mounted by now.
      this.#mountMissing(own.map((mount) => ({ ...mount, isNew: false }))),
    );
  }

  async unmount(directories: readonly string[]): Promise<void> {
    if (directories.length === 0) return;
    this.#mounting = undefined;
    this.#unmounting = this.#joinBatch(this.#unmounting, directories, (all) =>
      this.#unmountAll(all),
    );
    await this.#outcome(this.#unmounting, directories, (own) => this.#unmountAll(own));
  }

  async close(): Promise<void> {
    await this.#next(async () => this.#shell.close());
  }

  /** Adds the wishes to the waiting batch, or to a new one. */
  #joinBatch<T>(
    last: Batch<T> | undefined,
    wishes: readonly T[],
    act: (all: readonly T[]) => Promise<void>,
  ): Batch<T> {
    if (last !== undefined && !last.hasBegun) {
      last.wishes.push(...wishes);
      return last;
    }
    const begin = async (): Promise<void> => {
      batch.hasBegun = true;
      await act(batch.wishes);
    };
    const batch = { wishes: [...wishes], hasBegun: false, done: this.#next(begin) };
    return batch;
  }

  /** The outcome for one request. After a failed batch the request is tried alone. */
  async #outcome<T>(
    { wishes, done }: Batch<T>,
    own: readonly T[],
    act: (all: readonly T[]) => Promise<void>,
  ): Promise<void> {
    await done.catch((error: Error) => {
      if (wishes.length === own.length) throw error;
      return this.#next(() => act(own));
    });
  }

  async #mountMissing(wanted: readonly MemoryMount[]): Promise<void> {
    const areNew = wanted.every(({ isNew }) => isNew);
    const present = new Set(areNew ? [] : await this.mounted());
    const missing = wanted.filter(({ path }) => !present.has(path) && this.#isOwn(path));
    if (missing.length === 0) return;
    const isListed = this.#takesLists && (await this.#mountListed(missing));
    if (!isListed) await this.#shell.run(oneByOne(missing));
  }

  /**
   * One program mounts all of a list, as starting programs takes longer than mounting. The shell writes the list:
   * this process may have much other work with files, and the mounts would wait for it. `false` on a full disk.
   */
  async #mountListed(mounts: readonly MemoryMount[]): Promise<boolean> {
    const list = quoted(join(this.#root, 'mount-list'));
    const lines = mounts.map(
      (mount) => `roster ${escaped(mount.path)} tmpfs ${optionsOf(mount)} 0 0\n`,
    );
    const command = `printf %s ${quoted(lines.join(''))} >${list} || exit ${unwritten}; mount -a -T ${list}`;
    return this.#shell.run(command).then(
      () => true,
      (error: Error) => {
        if (error instanceof CommandFailure && error.code === unwritten) return false;
        throw error;
      },
    );
  }

  async #unmountAll(directories: readonly string[]): Promise<void> {
    const within = new Set(directories);
    const isWithin = (path: string): boolean => {
      for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
        if (within.has(path.slice(0, end))) return true;
      }
      return false;
    };
    const present = async () => (await this.mounted()).filter(isWithin).reverse();
    // For a lazy unmount the program reads the machine's table again for each path, which takes twenty times as long.
    await this.#umount('umount', await present(), ':');
    // A mount with open files stays until they are closed, but nobody finds it any more.
    await this.#umount('umount -l', await present(), 'failed=1');
  }

  async #umount(program: string, paths: readonly string[], orElse: string): Promise<void> {
    const commands = slices(paths, unmountedAtOnce).map(
      (some) => `${program} ${some.map(quoted).join(' ')} || ${orElse}`,
    );
    if (commands.length > 0) await this.#shell.run([...commands, '[ -z "$failed" ]'].join('\n'));
  }

  async mounted(): Promise<readonly string[]> {
    const table = await readFile('/proc/self/mounts', 'utf8');
    return table
      .split('\n')
      .filter((line) => line.startsWith('roster '))
      .map((line) => line.split(' '))
      .filter(([, , type]) => type === 'tmpfs')
      .map(([, path = '']) => unescaped(path))
      .filter((path) => path.startsWith(`${this.#realRoot}/`))
      .map((path) => `${this.#root}${path.slice(this.#realRoot.length)}`);
  }

  /** M1. */
  #isOwn(path: string): boolean {
    return path.startsWith(`${this.#root}/`);
  }

  #next<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#last.catch(() => {}).then(act);
    this.#last = done;
    return done;
  }
}

/** No exit code of `mount`, whose codes are sums of powers of two up to 64. */
const unwritten = 200;

const oneByOne = (mounts: readonly MemoryMount[]): string =>
  mounts
    .map((mount) => `mount -t tmpfs -o ${optionsOf(mount)} roster ${quoted(mount.path)} || exit 1`)
    .join('\n');

/** The length of a command is bounded. */
const unmountedAtOnce = 200;

function slices<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  );
}

const optionsOf = ({ sizeMb, uid, gid }: MemoryMount): string =>
  `size=${sizeMb}m,mode=0700,uid=${uid},gid=${gid},nosuid,nodev,noexec`;

const quoted = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`;

/** The table and the list write spaces and similar characters as octal digits. */
const escaped = (path: string): string =>
  path.replace(/[\s\\#]/g, (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`);

const unescaped = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
