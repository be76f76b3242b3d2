/**
 * Who is who in a sandbox. `bwrap` forks a process that is the first in the new namespaces and takes in
 * orphans; that one forks the command. Where the process ids are the host's, the first is the command.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { listPids, readStat } from './proc.ts';

export interface Inside {
  /** The first process in the sandbox, by the host's ids: it has the sandbox's namespaces and root. */
  readonly first: number;
  /** The command itself, by the host's ids. */
  readonly command: number;
  readonly commandStartTime: string;
}

/** `pid`: that of the sandbox's monitor. `undefined`: nothing runs inside, not yet or not any more. */
export function findInside(pid: number): Inside | undefined {
  const [first] = childrenOf(pid);
  if (first === undefined) return undefined;
  const ownIds = namespaceOf(first, 'pid') !== namespaceOf(pid, 'pid');
  const command = ownIds ? childrenOf(first).find((child) => innerPid(child) === 2) : first;
  const commandStartTime = command === undefined ? undefined : readStat(command)?.startTime;
  if (command === undefined || commandStartTime === undefined) return undefined;
  return { first, command, commandStartTime };
}

/** Not every kernel keeps the list; then all processes are asked for their parent. */
function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return text.split(' ').filter(Boolean).map(Number);
  } catch {
    return listPids().filter((child) => readStat(child)?.parent === pid);
  }
}

/** All that descend from a process, itself first. */
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

/** Its id in its own namespace. */
function innerPid(pid: number): number | undefined {
  try {
    const [, ids = ''] = /^NSpid:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(ids.split(/\s+/).at(-1));
  } catch {
    return undefined;
  }
}
