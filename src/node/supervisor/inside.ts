/**
 * Finds the processes of a sandbox. `bwrap` forks the first process of the new namespaces, which
 * adopts orphans and forks the command. Without a process namespace the first process is the
 * command itself.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { listPids, readStat } from './proc.ts';

export interface Inside {
  /** The host's pid of the sandbox's first process, which has the sandbox's namespaces and root. */
  readonly first: number;
  /** The host's pid of the command. */
  readonly command: number;
  readonly commandStartTime: string;
}

/** `pid` is the sandbox's monitor. `undefined`: nothing runs inside yet, or any more. */
export function findInside(pid: number): Inside | undefined {
  const [first] = childrenOf(pid);
  if (first === undefined) return undefined;
  const ownIds = namespaceOf(first, 'pid') !== namespaceOf(pid, 'pid');
  const command = ownIds ? childrenOf(first).find((child) => innerPid(child) === 2) : first;
  const commandStartTime = command === undefined ? undefined : readStat(command)?.startTime;
  if (command === undefined || commandStartTime === undefined) return undefined;
  return { first, command, commandStartTime };
}

/** Kernels without the list of children make this read the parent of every process. */
function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return text.split(' ').filter(Boolean).map(Number);
  } catch {
    return listPids().filter((child) => readStat(child)?.parent === pid);
  }
}

/** A process and all its descendants, itself first. */
export function descendantsOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(descendantsOf)];
}

export function namespaceOf(pid: number, kind: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/${kind}`);
  } catch {
    return undefined;
  }
}

/** The pid of a process in its own namespace. */
function innerPid(pid: number): number | undefined {
  try {
    const [, ids = ''] = /^NSpid:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(ids.split(/\s+/).at(-1));
  } catch {
    return undefined;
  }
}
