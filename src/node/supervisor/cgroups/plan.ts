/**
 * The control groups of one run, as directories to make and files to write: a value that the driver
 * sends to the supervisor. Pure. File names: the kernel's documents on control groups, version 1
 * (`admin-guide/cgroup-v1`) and version 2 (`admin-guide/cgroup-v2`).
 *
 * Invariants
 *  C1. A run has one group in each tree that it needs, all with the same name, below `roster`.
 *  C2. If the machine has control groups, there is always one through which the whole run can be
 *      killed.
 *  C3. Writing a plan again changes nothing.
 *  C4. A run without limits is only in groups in which it can begin, where version 1 has such for C2.
 */
import { join } from 'node:path';
import { type CgroupLayout, type Controller, hasController } from './layout.ts';

export interface CgroupFile {
  readonly name: string;
  readonly value: string;
  /** Not every kernel has the file; a failed write is ignored. */
  readonly isOptional?: boolean;
}

export interface CgroupDirectory {
  readonly path: string;
  readonly files: readonly CgroupFile[];
  /** The run can begin in it (`births.ts`) and need not be moved. Older supervisors move it. */
  readonly byBirth?: boolean;
}

export interface CgroupPlan {
  /** Whether a run must not begin without its groups. */
  readonly isRequired: boolean;
  /** Common parents of all groups: made and written first, and never removed. */
  readonly parents: readonly CgroupDirectory[];
  /** The run's own groups, removed when it is over. */
  readonly groups: readonly CgroupDirectory[];
}

export interface CgroupLimits {
  /** The task's share of a busy processor, relative to other tasks. */
  readonly cpuShares: number;
  /** The cores that it may use; empty: all. */
  readonly cores: readonly number[];
  /** The limit at which it is killed; 0: no limit. */
  readonly memoryBytes: number;
  /** The memory that it keeps while memory is scarce; 0: unspecified. */
  readonly memoryKeptBytes: number;
}

export interface CgroupWants {
  readonly isRequired: boolean;
  /** Processes and threads together. */
  readonly processesMax: number;
  /** Absent: its processes are only grouped and counted. */
  readonly limits?: CgroupLimits;
}

type Groups = Omit<CgroupPlan, 'isRequired'>;

/** Below each tree. */
export const groupsName = 'roster';

/** `undefined` if this machine has no writable control groups. */
export function planCgroup(
  layout: CgroupLayout,
  runId: string,
  wants: CgroupWants,
): CgroupPlan | undefined {
  const name = groupName(runId);
  const begun = wants.limits === undefined ? groupsByBirth(layout, name, wants) : undefined;
  if (begun !== undefined) return { isRequired: wants.isRequired, parents: [], groups: begun };
  const separate = separateGroups(layout, name, wants);
  const unified = unifiedGroup(layout, name, wants);
  const groups = [...unified.groups, ...separate.groups];
  if (groups.length === 0) return undefined;
  const parents = [...unified.parents, ...separate.parents];
  return { isRequired: wants.isRequired, parents, groups };
}

/** Whether its run begins in all of its groups. */
export const isByBirth = ({ groups }: CgroupPlan): boolean =>
  groups.every(({ byBirth }) => byBirth === true);

/**
 * Controllers of version 1 that do not mind a thread which comes and goes. It would use the memory, the cores and the share
 * of the run otherwise.
 */
export const enteredControllers: readonly Controller[] = ['pids', 'freezer', 'cpuacct'];

export const processesMaxFile = 'pids.max';

/** `undefined`: version 1 cannot bound and kill a run here. */
function groupsByBirth(
  layout: CgroupLayout,
  name: string,
  wants: CgroupWants,
): readonly CgroupDirectory[] | undefined {
  const { separate } = layout;
  const mayEnter = (controller: Controller): boolean => {
    const tree = separate.get(controller);
    const together = [...separate.keys()].filter((other) => separate.get(other) === tree);
    return tree !== undefined && together.every((other) => enteredControllers.includes(other));
  };
  const usable = enteredControllers.filter(mayEnter);
  if (!usable.includes('pids') || !usable.includes('freezer')) return undefined;
  const trees = new Set(usable.map((controller) => separate.get(controller)!));
  return [...trees].map((tree) => ({
    path: join(tree, groupsName, name),
    files: usable
      .filter((controller) => separate.get(controller) === tree)
      .flatMap((controller) => separateFiles(layout, controller, wants)),
    byBirth: true,
  }));
}

const longestName = 200;

/** A file name for a run: `<allocation>.<task>.<run>`, with special characters as `_xx`. */
export function groupName(runId: string): string {
  const plain = runId
    .replace(/[/#]/g, '.')
    .replace(/[^A-Za-z0-9.-]/gu, (sign) => `_${Buffer.from(sign).toString('hex')}`);
  // A name that is too long is cut in the middle, as the number of the run at the end must stay.
  return plain.length <= longestName
    ? plain
    : `${plain.slice(0, longestName / 2)}_${plain.slice(-longestName / 2)}`;
}

function unifiedGroup(layout: CgroupLayout, name: string, wants: CgroupWants): Groups {
  const { unified } = layout;
  if (unified === undefined) return { parents: [], groups: [] };
  const uses = (controller: Controller): boolean =>
    unified.controllers.has(controller) && !layout.separate.has(controller);
  const enabled = (['cpu', 'cpuset', 'memory', 'pids'] as const).filter(uses);
  const value = enabled.map((controller) => `+${controller}`).join(' ');
  const enable = value === '' ? [] : [{ name: 'cgroup.subtree_control', value }];
  const parent = join(unified.directory, groupsName);
  return {
    parents: [
      { path: unified.directory, files: enable },
      { path: parent, files: enable },
    ],
    groups: [{ path: join(parent, name), files: unifiedFiles(wants, uses) }],
  };
}

function unifiedFiles(
  { processesMax, limits }: CgroupWants,
  uses: (controller: Controller) => boolean,
): CgroupFile[] {
  const files: CgroupFile[] = [];
  if (uses('pids')) files.push({ name: processesMaxFile, value: String(processesMax) });
  if (limits === undefined) return files;
  const { cpuShares, cores, memoryBytes, memoryKeptBytes } = limits;
  if (uses('cpu')) files.push({ name: 'cpu.weight', value: String(weightOf(cpuShares)) });
  if (uses('cpuset') && cores.length > 0) {
    files.push({ name: 'cpuset.cpus', value: cores.join(',') });
  }
  if (!uses('memory')) return files;
  if (memoryBytes > 0) {
    files.push({ name: 'memory.max', value: String(memoryBytes) });
    files.push({ name: 'memory.swap.max', value: '0', isOptional: true });
  }
  if (memoryKeptBytes > 0) files.push({ name: 'memory.low', value: String(memoryKeptBytes) });
  return files;
}

/** Not in limits: the kernel's bounds of version 1. */
const sharesMin = 2;
/** Not in limits: see `sharesMin`. */
const sharesMax = 262_144;

const clamp = (value: number, least: number, most: number): number =>
  Math.min(most, Math.max(least, Math.round(value)));

/** Converts shares of version 1 (2 to 262144) to weights of version 2 (1 to 10000). */
export function weightOf(shares: number): number {
  const within = clamp(shares, sharesMin, sharesMax);
  return 1 + Math.floor(((within - sharesMin) * 9999) / (sharesMax - sharesMin));
}

function separateGroups(layout: CgroupLayout, name: string, wants: CgroupWants): Groups {
  const byDirectory = new Map<string, CgroupFile[]>();
  const parents: CgroupDirectory[] = [];
  for (const controller of separateControllers(layout, wants)) {
    const tree = layout.separate.get(controller);
    if (tree === undefined) continue;
    const directory = join(tree, groupsName);
    const known = byDirectory.get(directory) ?? [];
    byDirectory.set(directory, [...known, ...separateFiles(layout, controller, wants)]);
    if (controller !== 'cpuset' || layout.cpuset === undefined) continue;
    const { cpus, mems } = layout.cpuset;
    const files = [
      { name: 'cpuset.cpus', value: cpus },
      { name: 'cpuset.mems', value: mems },
    ];
    parents.push({ path: directory, files });
  }
  const groups = [...byDirectory].map(([directory, files]) => ({
    path: join(directory, name),
    files,
  }));
  return { parents, groups };
}

function separateControllers(layout: CgroupLayout, { limits }: CgroupWants): Controller[] {
  const found: Controller[] = ['pids'];
  // Only for freezing the run before a kill (C2).
  if (layout.unified === undefined) found.push('freezer');
  if (limits === undefined) return found;
  found.push('cpu', 'cpuacct', 'memory');
  if (limits.cores.length > 0) found.push('cpuset');
  return found;
}

function separateFiles(
  layout: CgroupLayout,
  controller: Controller,
  { processesMax, limits }: CgroupWants,
): CgroupFile[] {
  if (controller === 'pids') return [{ name: processesMaxFile, value: String(processesMax) }];
  if (limits === undefined) return [];
  const { cpuShares, cores, memoryBytes, memoryKeptBytes } = limits;
  if (controller === 'cpu') {
    return [{ name: 'cpu.shares', value: String(clamp(cpuShares, sharesMin, sharesMax)) }];
  }
  if (controller === 'cpuset') {
    return [
      { name: 'cpuset.cpus', value: cores.join(',') },
      { name: 'cpuset.mems', value: layout.cpuset?.mems ?? '0' },
    ];
  }
  if (controller !== 'memory') return [];
  const files: CgroupFile[] = [];
  if (memoryBytes > 0) {
    // In this order: memory with swap may never be less than memory alone.
    files.push({ name: 'memory.limit_in_bytes', value: String(memoryBytes) });
    files.push({
      name: 'memory.memsw.limit_in_bytes',
      value: String(memoryBytes),
      isOptional: true,
    });
  }
  if (memoryKeptBytes > 0) {
    files.push({ name: 'memory.soft_limit_in_bytes', value: String(memoryKeptBytes) });
  }
  return files;
}

/** The limits that can be set here, as words for the node's attributes. */
export const limitsIn = (layout: CgroupLayout): readonly Controller[] =>
  (['cpu', 'cpuset', 'memory', 'pids'] as const).filter((name) => hasController(layout, name));
