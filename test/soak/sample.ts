/** The resources that an agent's processes hold, as Linux reports them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, processesNaming, residentBytes } from '../../bench/processes.ts';

export interface Held {
  readonly rssMb: number;
  readonly supervisorRssMb: number;
  readonly descriptors: number;
  readonly processes: number;
  readonly mounts: number;
  /** Directories of allocations on the node. */
  readonly directories: number;
}

/** `folder`: the agent's folder, which its processes and mounts have in their names. */
export function held(agentPid: number, folder: string): Held {
  const pids = processesNaming(folder).filter(isAlive);
  const supervisors = pids.filter((pid) => isSupervisor(read(`/proc/${pid}/cmdline`)));
  const own = [agentPid, ...supervisors];
  return {
    rssMb: residentBytes(agentPid) / 2 ** 20,
    supervisorRssMb: sum(supervisors, residentBytes) / 2 ** 20,
    descriptors: sum(own, (pid) => entriesOf(`/proc/${pid}/fd`)),
    processes: pids.length,
    mounts: sum(own, (pid) => mountsBelow(pid, folder)),
    directories: entriesOf(join(folder, 'data/node/alloc')),
  };
}

const isSupervisor = (commandLine: string): boolean =>
  /\/supervisor(\/main\.ts|\.js)\0/.test(commandLine);

/** 0 if there is no such directory. */
function entriesOf(directory: string): number {
  try {
    return readdirSync(directory).length;
  } catch {
    return 0;
  }
}

/** Mounts in the process's own namespace. */
const mountsBelow = (pid: number, folder: string): number =>
  read(`/proc/${pid}/mounts`)
    .split('\n')
    .filter((line) => line.split(' ')[1]?.startsWith(`${folder}/`)).length;

const sum = (pids: readonly number[], of: (pid: number) => number): number =>
  pids.reduce((total, pid) => total + of(pid), 0);

/** Empty when the process is gone. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
