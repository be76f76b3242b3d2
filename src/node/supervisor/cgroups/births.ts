/**
 * A process begins in the control groups of the thread that makes it. In version 1 a single thread may enter a group by
 * itself, and the kernel waits for nothing then; before it moves another process it waits for a grace period of RCU
 * (`group-moves.ts`), and all other work on groups waits meanwhile. So the thread of this process enters the groups of a
 * run, makes the child, and goes back: the run is in its groups from its first instruction on.
 *
 * Invariants
 *  H1. Nothing else runs on this thread while it is in the groups of a run.
 *  H2. A thread that cannot go back would be killed with the run: this process ends instead, and the next one goes on.
 *  H3. A run never has more processes than it may have, although the thread counts as one for as long as it is there.
 */
import { closeSync, constants, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { birthLimits } from '../limits.ts';
import { say } from '../say.ts';
import { type CgroupLayout, readCgroupLayout } from './layout.ts';
import {
  type CgroupDirectory,
  type CgroupFile,
  type CgroupPlan,
  enteredControllers,
  processesMaxFile,
} from './plan.ts';

const ownGroups = '/proc/self/cgroup';

interface Born<T> {
  readonly child: T;
  readonly isInside: boolean;
}

export class Births {
  readonly #layout: () => CgroupLayout;
  #groups: string | undefined;
  /** The lists of threads of the groups in which this process is, open to write, by tree. */
  #ways: ReadonlyMap<string, number> = new Map();

  constructor(layout: () => CgroupLayout = readCgroupLayout) {
    this.#layout = layout;
  }

  /** Makes a child, inside all groups of the plan if it can begin there. Throws what `make` throws. */
  bear<T>(plan: CgroupPlan | undefined, make: () => T): Born<T> {
    const groups = plan?.groups ?? [];
    const ways = this.#waysBack(groups);
    if (ways === undefined) return { child: make(), isInside: false };
    try {
      const isInside = enter(groups);
      return { child: make(), isInside };
    } finally {
      goBack(groups, ways);
    }
  }

  /** `undefined`: a group of the run cannot be entered, or not be left again. */
  #waysBack(groups: readonly CgroupDirectory[]): readonly number[] | undefined {
    if (groups.length === 0 || !groups.every(({ byBirth }) => byBirth === true)) return undefined;
    this.#lookAround();
    const ways = groups.flatMap(({ path }) => this.#ways.get(dirname(dirname(path))) ?? []);
    return ways.length === groups.length ? ways : undefined;
  }

  /** Finds the groups of this process, which an operator may move. */
  #lookAround(): void {
    const groups = readFileSync(ownGroups, 'utf8');
    if (groups === this.#groups) return;
    this.#groups = groups;
    for (const way of this.#ways.values()) closeSync(way);
    this.#ways = waysIn(groups, this.#layout());
  }
}

/** In a container without a namespace of groups, the mounted tree begins at its own group. */
function waysIn(groups: string, { separate }: CgroupLayout): ReadonlyMap<string, number> {
  const ways = new Map<string, number>();
  for (const line of groups.split('\n')) {
    const [, controllers = '', ...path] = line.split(':');
    for (const controller of enteredControllers) {
      const tree = separate.get(controller);
      if (tree === undefined || !controllers.split(',').includes(controller)) continue;
      const candidates = [join(tree, path.join(':')), tree].map((group) => join(group, 'tasks'));
      const way = ways.has(tree) ? undefined : openOwn(candidates);
      if (way !== undefined) ways.set(tree, way);
    }
  }
  return ways;
}

/** Opens the first list that has this thread. */
function openOwn(lists: readonly string[]): number | undefined {
  for (const tasks of lists) {
    try {
      const threads = readFileSync(tasks, 'utf8').split('\n');
      if (threads.includes(String(process.pid))) return openSync(tasks, constants.O_WRONLY);
    } catch {
      // It is not there, or not for this process.
    }
  }
  return undefined;
}

/** The bound of a run on its processes, if one more process could matter while this thread counts as one. */
function tightBound({ files }: CgroupDirectory): CgroupFile | undefined {
  const most = files.find(({ name }) => name === processesMaxFile);
  return most && Number(most.value) <= birthLimits.fewProcesses ? most : undefined;
}

/** `false`: not into all of them. */
function enter(groups: readonly CgroupDirectory[]): boolean {
  try {
    for (const group of groups) {
      const { path } = group;
      // H3: with this thread, for a child that is the only process.
      const most = tightBound(group);
      if (most !== undefined) writeFileSync(join(path, most.name), String(Number(most.value) + 1));
      writeFileSync(join(path, 'tasks'), '0');
    }
    return true;
  } catch {
    return false;
  }
}

/** H2, H3: the bound comes first, and still counts this thread. */
function goBack(groups: readonly CgroupDirectory[], ways: readonly number[]): void {
  try {
    for (const group of groups) {
      const most = tightBound(group);
      if (most !== undefined) writeFileSync(join(group.path, most.name), most.value);
    }
    for (const way of ways) writeSync(way, '0');
  } catch (error) {
    say(`this process cannot leave the groups of a task: ${String(error)}`);
    process.exit(1);
  }
}
