import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { limits } from './limits.ts';

/** Processes, as Linux describes them in `/proc`. */

/** Resident memory in bytes; 0 if the process does not exist. */
export const residentBytes = (pid: number): number => bytesIn(`/proc/${pid}/status`, 'VmRSS');

/** Its resident memory in bytes, with its share of the pages that several processes have. */
export const sharedOutBytes = (pid: number): number => bytesIn(`/proc/${pid}/smaps_rollup`, 'Pss');

/** Its resident memory in bytes that no other process has. */
export const privateBytes = (pid: number): number =>
  bytesIn(`/proc/${pid}/smaps_rollup`, 'Private_Clean') +
  bytesIn(`/proc/${pid}/smaps_rollup`, 'Private_Dirty');

function bytesIn(file: string, name: string): number {
  const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(read(file))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

/** Descriptors that a process of this user may have. */
export const descriptorsMax = (): number =>
  Number(/^Max open files\s+(\d+)/m.exec(read('/proc/self/limits'))?.[1] ?? 1024);

/** Clock ticks (1/100 s) of processor time that the process has used so far. */
function usedTicks(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  // The name in parentheses may have any characters.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}

/** Processor time that the process has used so far. */
export const usedMs = (pid: number): number => usedTicks(pid) * 10;

/** Processor time that the main thread of the process has used so far; Linux tells it in nanoseconds. */
export const mainThreadMs = (pid: number): number => scheduledMs(pid, 0);

/** How long the main thread has waited for a processor. */
export const mainThreadWaitMs = (pid: number): number => scheduledMs(pid, 1);

/** How long the threads of its workers have waited for a processor. */
export function workersWaitMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map(Number);
  return threads
    .filter((thread) => read(`/proc/${pid}/task/${thread}/comm`).trim() === 'WorkerThread')
    .reduce((sum, thread) => sum + scheduledMs(pid, 1, thread), 0);
}

const scheduledMs = (pid: number, field: 0 | 1, thread = pid): number =>
  Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[field]) / 1e6;

/** The processes that listen on the TCP port, the oldest first. */
export function listenersOn(port: number): number[] {
  const sockets = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) =>
    read(table)
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      // The state 0A is listening.
      .filter(
        ([, local, , state]) => state === '0A' && parseInt(local!.split(':')[1]!, 16) === port,
      )
      .map((fields) => `socket:[${fields[9]}]`),
  );
  const found = pids().filter((pid) => openFiles(pid).some((file) => sockets.includes(file)));
  if (found.length === 0) throw new Error(`no process of this user listens on port ${port}`);
  return found.sort((left, right) => left - right);
}

/** The targets of the descriptors of a process; none if it belongs to another user. */
function openFiles(pid: number): string[] {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).map((name) => linkTarget(`${folder}/${name}`));
  } catch {
    return [];
  }
}

/** Empty if the descriptor has been closed meanwhile. */
function linkTarget(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/**
 * Resolves when the process has been nearly idle for a second, after its pending work and collections.
 */
export async function quiet(pid: number): Promise<void> {
  const deadlineMs = performance.now() + limits.answerMs;
  for (let calm = 0; calm < 4; ) {
    const before = usedTicks(pid);
    await new Promise((resolve) => setTimeout(resolve, 250));
    calm = usedTicks(pid) - before <= 1 ? calm + 1 : 0;
    if (performance.now() > deadlineMs) throw new Error(`process ${pid} does not come to rest`);
  }
}

/** Processes whose command line or environment has `text`, such as a temporary folder. */
export function processesNaming(text: string): number[] {
  return pids().filter((pid) => {
    const told = read(`/proc/${pid}/cmdline`) + read(`/proc/${pid}/environ`);
    return pid !== process.pid && told.includes(text);
  });
}

const pids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/**
 * The supervisor: the only process beside the agent that names the data directory before the first task, apart from the
 * program with which it makes pipes as it starts.
 */
export function supervisorOf(dataDirectory: string, agent: number): number {
  const named = processesNaming(dataDirectory).filter((pid) => pid !== agent && isAlive(pid));
  const others = named.filter((pid) => !named.includes(parentOf(pid)));
  if (others.length !== 1) throw new Error(`there are ${others.length} supervisors`);
  return others[0]!;
}

export const isAlive = (pid: number): boolean => {
  const stat = read(`/proc/${pid}/stat`);
  return stat !== '' && !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
};

/** 0 if the process is gone. */
function parentOf(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}

/** Empty if the process is gone or belongs to another user. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** The established TCP connections to this port of other processes than these. */
export function connectionsOfOthers(port: number, pids: readonly number[]): number {
  const own = new Set(pids.flatMap((pid) => openFiles(pid)));
  return ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap((table) => read(table).split('\n'))
    .map((line) => line.trim().split(/\s+/))
    .filter(
      // The state 01 is established.
      ([, , remote, state]) => state === '01' && parseInt(remote!.split(':')[1]!, 16) === port,
    )
    .filter((fields) => !own.has(`socket:[${fields[9]}]`)).length;
}
