/** Reads processes from `/proc`. A process may end between two calls. */
import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs';

export interface ProcessStat {
  readonly pid: number;
  /** `R`, `S`, `Z` … */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Page faults of the children that it has waited for: 0 if it had no child. */
  readonly childFaults: number;
  /** More than one in a zombie means that its first thread has ended and others run. */
  readonly threads: number;
  /** Clock ticks since boot, as text. Together with the pid it names a process for ever. */
  readonly startTime: string;
}

export function readStat(pid: number): ProcessStat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** The command's name is in parentheses and may hold spaces and parentheses itself. */
export function parseStat(text: string): ProcessStat | undefined {
  const pid = Number.parseInt(text, 10);
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const startTime = fields[19];
  if (!Number.isInteger(pid) || startTime === undefined) return undefined;
  return {
    pid,
    state: fields[0]!,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    childFaults: Number(fields[8]),
    threads: Number(fields[17]),
    startTime,
  };
}

export function listPids(): number[] {
  try {
    return readdirSync('/proc').filter(isNumber).map(Number);
  } catch {
    return [];
  }
}

const isNumber = (name: string): boolean => name.charCodeAt(0) >= 48 && name.charCodeAt(0) <= 57;

/** `NAME=value` entries; empty when they may not be read. */
export function readEnvironment(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** Identifies an open file. Once nobody has it open, another file may get the id. */
export const fileId = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

/** The ids of its standard output and error output, if they may be read. */
export function readOutputs(pid: number): readonly string[] {
  return [1, 2].flatMap((fd) => {
    try {
      return [fileId(statSync(`/proc/${pid}/fd/${fd}`))];
    } catch {
      return [];
    }
  });
}

/** Whether the process is gone, or a zombie without running threads. */
export const isEnded = (stat: ProcessStat | undefined): boolean =>
  stat === undefined || ((stat.state === 'Z' || stat.state === 'X') && stat.threads <= 1);

/** Whether the process of this pid has this start time, and runs. */
export function isAlive(pid: number, startTime: string): boolean {
  const stat = readStat(pid);
  return stat?.startTime === startTime && !isEnded(stat);
}

/** Changes with every boot. Start times of different boots cannot be compared. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
