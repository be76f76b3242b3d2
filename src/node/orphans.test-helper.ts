/** Finds processes and control groups that an ended allocation left, after tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CgroupLayout, readCgroupLayout } from './supervisor/cgroups/layout.ts';
import { groupsName } from './supervisor/cgroups/plan.ts';
import { isEnded, listPids, readEnvironment, readStat } from './supervisor/proc.ts';

/** A line for each process and each control group that still belongs to the allocation. */
export function leftoversOf(allocId: string): string[] {
  const variable = `ROSTER_ALLOC_ID=${allocId}`;
  const processes = listPids()
    .filter((pid) => !isEnded(readStat(pid)) && readEnvironment(pid).includes(variable))
    .map((pid) => `process ${pid}: ${commandLineOf(pid)}`);
  const groups = groupsOf(readCgroupLayout(), `${allocId}.`);
  return [...processes, ...groups];
}

function groupsOf({ separate, unified }: CgroupLayout, prefix: string): string[] {
  const trees = [...separate.values(), ...(unified === undefined ? [] : [unified.directory])];
  return [...new Set(trees)]
    .map((tree) => join(tree, groupsName))
    .flatMap((parent) => namesIn(parent).map((name) => [name, join(parent, name)] as const))
    .filter(([name]) => name.startsWith(prefix))
    .map(([, path]) => `control group ${path}`);
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

export function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}
