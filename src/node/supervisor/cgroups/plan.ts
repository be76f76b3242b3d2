/**
 * The control groups of one run, as directories to make and files to write: a value that the driver
 * sends to the supervisor. Pure. File names: the kernel's documents on control groups, version 1
 * (`admin-guide/cgroup-v1`) and version 2 (`admin-guide/cgroup-v2`).
 *
 * Invariants
 *  C1. A run has one group in every tree that it needs, all of the same name, below `roster`.
 *  C2. There is always one through which the whole run can be killed, where the machine has any.
 *  C3. Writing a plan again changes nothing.
 */
import { join } from 'node:path';
import { type CgroupLayout, type Controller, hasController } from './layout.ts';

export interface CgroupFile {
  readonly name: string;
  readonly value: string;
  /** It is not there on every kernel, and what it does is not promised. */
  readonly isOptional?: boolean;
}

export interface CgroupDirectory {
  readonly path: string;
  readonly files: readonly CgroupFile[];
}

export interface CgroupPlan {
  /** Without the groups the run must not begin; else it begins all the same. */
  readonly isRequired: boolean;
  /** Made and written first, and left there: what all groups have in common. */
  readonly parents: readonly CgroupDirectory[];
  /** The run's own; removed when it is over. */
  readonly groups: readonly CgroupDirectory[];
}

export interface CgroupLimits {
  /** The task's part of a busy processor, against those of others. */
  readonly cpuShares: number;
  /** The only cores that it runs on; empty: all. */
  readonly cores: readonly number[];
  /** It is killed rather than given more; 0: no limit. */
  readonly memoryBytes: number;
  /** What is left to it while memory is short; 0: nothing is said. */
  readonly memoryKeptBytes: number;
}

export interface CgroupWants {
  readonly isRequired: boolean;
  /** Processes and threads together. */
  readonly processesMax: number;
  /** Absent: it is only held together and counted. */
  readonly limits?: CgroupLimits;
}

type Groups = Omit<CgroupPlan, 'isRequired'>;

/** Below each tree. */
export const groupsName = 'roster';

/** `undefined` where this machine has no control groups that may be written. */
export function planCgroup(
  layout: CgroupLayout,
  runId: string,
  wants: CgroupWants,
): CgroupPlan | undefined {
  const name = groupName(runId);
  const separate = separateGroups(layout, name, wants);
  const unified = unifiedGroup(layout, name, wants);
  const groups = [...unified.groups, ...separate.groups];
  if (groups.length === 0) return undefined;
  const parents = [...unified.parents, ...separate.parents];
  return { isRequired: wants.isRequired, parents, groups };
}

const longestName = 200;

/** A file name for a run: `<allocation>.<task>.<run>`, what is not plain in it written as `_xx`. */
export function groupName(runId: string): string {
  const plain = runId
    .replace(/[/#]/g, '.')
    .replace(/[^A-Za-z0-9.-]/gu, (sign) => `_${Buffer.from(sign).toString('hex')}`);
  // The run's number is at the end and tells runs of one task apart; the middle can go.
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
  if (uses('pids')) files.push({ name: 'pids.max', value: String(processesMax) });
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

const sharesMin = 2;
const sharesMax = 262_144;

const clamp = (value: number, least: number, most: number): number =>
  Math.min(most, Math.max(least, Math.round(value)));

/** Version 2 weighs from 1 to 10000 what version 1 calls 2 to 262144 shares. */
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
  // Only so that the run can be stopped before it is killed (C2).
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
  if (controller === 'pids') return [{ name: 'pids.max', value: String(processesMax) }];
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

/** What limits can be set here, as words for the node's attributes. */
export const limitsIn = (layout: CgroupLayout): readonly Controller[] =>
  (['cpu', 'cpuset', 'memory', 'pids'] as const).filter((name) => hasController(layout, name));
