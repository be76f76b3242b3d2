/** The control groups of a run on the machine, which may vanish between two calls. */
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  write,
  writeFileSync,
} from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cgroupLimits } from '../limits.ts';
import { type CgroupLayout, type Controller, noCgroups } from './layout.ts';
import { type CgroupDirectory, type CgroupPlan, planCgroup } from './plan.ts';

/** Makes the groups, or removes the run's own again and throws an Error that names the file. */
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
    // It was not made, or has processes: `remove` tries for longer.
  }
}

/**
 * The usable part of a layout, found by trying. In a container the trees are often writable, but no
 * controller can be enabled for a group in them.
 */
export function usableLayout(layout: CgroupLayout, probeId: string): CgroupLayout {
  const { unified } = layout;
  const bare = unified && { ...unified, controllers: new Set<Controller>() };
  const attempts = [layout, { ...layout, unified: bare }, { ...layout, unified: undefined }];
  // Not in limits: values for trying.
  const wants = {
    isRequired: true,
    processesMax: 1,
    limits: { cpuShares: 100, cores: [], memoryBytes: 2 ** 30, memoryKeptBytes: 0 },
  };
  for (const attempt of attempts) {
    const plan = planCgroup(attempt, probeId, wants);
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

  /** Rejects when a living process cannot be moved. */
  async join(pids: readonly number[]): Promise<void> {
    for (const path of this.paths) {
      for (const pid of pids) {
        await writeSlowly(join(path, 'cgroup.procs'), String(pid)).catch(
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

  /** Kills all its present processes: by one write to the kernel, or else while they are frozen. */
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
    // Freezing is slow, as the kernel changes its own code for it, and most runs have left nothing.
    if (this.processes().length === 0) return;
    writeText(file, frozen);
    this.#killEach();
    writeText(file, thawed);
  }

  #killEach(): void {
    for (const pid of this.processes()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // The process has ended by itself.
      }
    }
  }

  /** How many of its processes the kernel has killed for lack of memory. */
  oomKills(): number {
    const texts = this.paths.flatMap((path) => [
      readText(join(path, 'memory.events')),
      readText(join(path, 'memory.oom_control')),
    ]);
    return texts.reduce((sum, text) => sum + Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0), 0);
  }

  /**
   * Kills its processes until none is left, and removes the groups. Resolves with the number of
   * processes left, which is not 0 only if the kernel itself holds some.
   */
  async remove(): Promise<number> {
    for (let round = 0; round < cgroupLimits.removalsMax; round++) {
      if (this.processes().length > 0) this.kill();
      if (await this.#removeDirectories()) return 0;
      await new Promise((resolve) => setTimeout(resolve, cgroupLimits.removalDelayMs));
    }
    return this.processes().length;
  }

  async #removeDirectories(): Promise<boolean> {
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

/** The kernel takes its time for the write alone, so only that is left to another thread. */
async function writeSlowly(path: string, text: string): Promise<void> {
  const fd = openSync(path, constants.O_WRONLY);
  try {
    await new Promise<void>((resolve, reject) => {
      write(fd, text, (error) => (error === null ? resolve() : reject(error)));
    });
  } finally {
    closeSync(fd);
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
