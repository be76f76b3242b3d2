/**
 * The control groups of a run, on the machine. Everything may vanish between two calls; what cannot be
 * done and matters is thrown.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CgroupLayout, type Controller, noCgroups } from './layout.ts';
import { type CgroupDirectory, type CgroupPlan, planCgroup } from './plan.ts';

const roundsMax = 400;
const roundDelayMs = 5;

/** Makes the groups. Throws an Error that names the file, and leaves none of the run's own. */
export function makeCgroup(plan: CgroupPlan): Cgroup {
  const paths = plan.groups.map(({ path }) => path);
  try {
    for (const directory of [...plan.parents, ...plan.groups]) makeDirectory(directory);
  } catch (error) {
    for (const path of paths) removeDirectory(path);
    throw error;
  }
  return new Cgroup(paths);
}

function makeDirectory({ path, files }: CgroupDirectory): void {
  mkdirSync(path, { recursive: true });
  for (const { name, value, isOptional } of files) {
    try {
      writeFileSync(join(path, name), value);
    } catch (error) {
      if (isOptional !== true) throw error;
    }
  }
}

function removeDirectory(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // It was not made, or somebody is in it: `remove` tries longer.
  }
}

/**
 * What of a layout can really be used: in a container the trees are often there and writable, and
 * yet no controller can be passed on to a group in them.
 */
export function usableLayout(layout: CgroupLayout, probeId: string): CgroupLayout {
  const { unified } = layout;
  const bare = unified && { ...unified, controllers: new Set<Controller>() };
  const attempts = [layout, { ...layout, unified: bare }, { ...layout, unified: undefined }];
  const limits = { cpuShares: 100, cores: [], memoryBytes: 2 ** 30, memoryKeptBytes: 0 };
  for (const attempt of attempts) {
    const plan = planCgroup(attempt, probeId, { isRequired: true, processesMax: 1, limits });
    if (plan === undefined) continue;
    try {
      for (const path of makeCgroup(plan).paths) removeDirectory(path);
      return attempt;
    } catch {
      // The next attempt asks for less.
    }
  }
  return noCgroups;
}

export class Cgroup {
  readonly paths: readonly string[];

  constructor(paths: readonly string[]) {
    this.paths = paths;
  }

  /** Rejects when a process is there and cannot be moved. */
  async join(pids: readonly number[]): Promise<void> {
    for (const path of this.paths) {
      for (const pid of pids) {
        await writeFile(join(path, 'cgroup.procs'), String(pid)).catch(
          (error: NodeJS.ErrnoException) => {
            if (error.code !== 'ESRCH') throw error;
          },
        );
      }
    }
  }

  processes(): number[] {
    const all = this.paths.flatMap((path) => readText(join(path, 'cgroup.procs')).split('\n'));
    return [...new Set(all.filter(Boolean).map(Number))].filter((pid) => pid > 0);
  }

  /** Kills all that is in it now: at once where the kernel does it, else while nothing moves. */
  kill(): void {
    const holding = (name: string) => this.paths.find((path) => existsSync(join(path, name)));
    const killing = holding('cgroup.kill');
    if (killing !== undefined && writeText(join(killing, 'cgroup.kill'), '1')) return;
    const unified = holding('cgroup.freeze');
    const freezer = holding('freezer.state');
    if (unified !== undefined) this.#killFrozen(join(unified, 'cgroup.freeze'), '1', '0');
    else if (freezer !== undefined) {
      this.#killFrozen(join(freezer, 'freezer.state'), 'FROZEN', 'THAWED');
    } else this.#killEach();
  }

  #killFrozen(file: string, frozen: string, thawed: string): void {
    writeText(file, frozen);
    this.#killEach();
    writeText(file, thawed);
  }

  #killEach(): void {
    for (const pid of this.processes()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It ended by itself.
      }
    }
  }

  /** How often the kernel killed one of its processes for want of memory. */
  oomKills(): number {
    const texts = this.paths.flatMap((path) => [
      readText(join(path, 'memory.events')),
      readText(join(path, 'memory.oom_control')),
    ]);
    return texts.reduce((sum, text) => sum + Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0), 0);
  }

  /**
   * Kills what is in it until nothing is, and takes it away. Resolves with how many processes
   * withstood, which is only then not 0 when the kernel itself holds them.
   */
  async remove(): Promise<number> {
    for (let round = 0; round < roundsMax; round++) {
      if (this.processes().length > 0) this.kill();
      if (await this.#removed()) return 0;
      await new Promise((resolve) => setTimeout(resolve, roundDelayMs));
    }
    return this.processes().length;
  }

  async #removed(): Promise<boolean> {
    const results = await Promise.all(
      this.paths.map((path) =>
        rmdir(path).then(
          () => true,
          (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
        ),
      ),
    );
    return results.every(Boolean);
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** `false` when it could not be written. */
function writeText(path: string, text: string): boolean {
  try {
    writeFileSync(path, text);
    return true;
  } catch {
    return false;
  }
}
