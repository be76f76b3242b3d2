/**
 * File systems in memory, for directories whose content is to reach no disk.
 *
 * Invariants
 *  M1. Nothing is mounted but below the data directory, and only there anything is unmounted.
 *  M2. What is mounted is known by the machine's own table of mounts and by nothing else, so that
 *      the next agent finds what one that died has left.
 */
import { spawn } from 'node:child_process';
import { mkdir, readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';

export interface MemoryMount {
  /** A directory that is there. */
  readonly path: string;
  readonly sizeMb: number;
  readonly uid: number;
  readonly gid: number;
}

export interface MemoryMounts {
  /** Mounts those that are not mounted yet. Rejects when one cannot be. */
  mount(wanted: readonly MemoryMount[]): Promise<void>;
  /** Unmounts what is mounted at these directories or below. What is in use goes with its last user. */
  unmount(directories: readonly string[]): Promise<void>;
  /** Where something is mounted below the data directory. */
  mounted(): Promise<readonly string[]>;
}

/** `undefined`, with the reason, where this user or machine cannot mount. */
export async function findMemoryMounts(
  dataDirectory: string,
): Promise<{ readonly mounts?: MemoryMounts; readonly reason?: string }> {
  const probe = join(dataDirectory, 'mount-probe');
  try {
    await mkdir(probe, { recursive: true, mode: 0o700 });
    const mounts = new SystemMounts(dataDirectory, await realpath(dataDirectory));
    await mounts.mount([{ path: probe, sizeMb: 1, uid: 0, gid: 0 }]);
    await mounts.unmount([probe]);
    return { mounts };
  } catch (error) {
    return { reason: (error as Error).message };
  } finally {
    await rm(probe, { recursive: true, force: true }).catch(() => {});
  }
}

class SystemMounts implements MemoryMounts {
  readonly #root: string;
  /** The same without links, as the table has it. */
  readonly #realRoot: string;
  readonly #gathered: (readonly MemoryMount[])[] = [];
  /** One after the other: each looks at the table before it acts. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(root: string, realRoot: string) {
    this.#root = root;
    this.#realRoot = realRoot;
  }

  /** Those who wait meanwhile are served together: starting a program is what costs. */
  mount(wanted: readonly MemoryMount[]): Promise<void> {
    this.#gathered.push(wanted);
    return this.#next(async () => {
      const all = this.#gathered.splice(0);
      // Somebody before took it along.
      if (!all.includes(wanted)) return this.#mountMissing(wanted);
      await this.#mountMissing(all.flat()).catch((error: Error) => {
        // Each of the others looks for itself; what is mounted by then stays.
        if (all.length === 1) throw error;
        return this.#mountMissing(wanted);
      });
    });
  }

  async #mountMissing(wanted: readonly MemoryMount[]): Promise<void> {
    const present = new Set(await this.mounted());
    const missing = wanted.filter(({ path }) => !present.has(path) && this.#isOwn(path));
    const lines = missing.map(({ path, sizeMb, uid, gid }) => {
      const options = `size=${sizeMb}m,mode=0700,uid=${uid},gid=${gid},nosuid,nodev,noexec`;
      return `mount -t tmpfs -o ${options} roster ${quoted(path)} || exit 1`;
    });
    if (lines.length > 0) await runShell(lines);
  }

  unmount(directories: readonly string[]): Promise<void> {
    return this.#next(async () => {
      const within = (path: string): boolean =>
        directories.some((directory) => path === directory || path.startsWith(`${directory}/`));
      const present = (await this.mounted()).filter(within);
      // Who still has a file of it open keeps it for so long, and nobody finds it any more.
      const lines = present.map((path) => `umount -l ${quoted(path)} || failed=1`);
      if (lines.length > 0) await runShell([...lines.reverse(), '[ -z "$failed" ]']);
    });
  }

  async mounted(): Promise<readonly string[]> {
    const table = await readFile('/proc/self/mounts', 'utf8');
    return table
      .split('\n')
      .map((line) => line.split(' '))
      .filter(([device, , type]) => device === 'roster' && type === 'tmpfs')
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

const quoted = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`;

/** The table writes spaces and the like as octal digits. */
const unescaped = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );

/** All in one: starting a program from a large process costs more than what it does. */
function runShell(lines: readonly string[]): Promise<void> {
  const child = spawn('/bin/sh', ['-s'], {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(0, 1000);
  });
  child.stdin.on('error', () => {}).end(`${lines.join('\n')}\n`);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(said.trim().split('\n').at(-1) || `mount ended with ${code}`));
    });
  });
}
