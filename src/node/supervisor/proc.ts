/** What `/proc` says about processes. Everything may vanish between two calls. */
import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs';

export interface ProcessStat {
  readonly pid: number;
  /** `R`, `S`, `Z` … */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Page faults of the children that it has waited for: none where there was none. */
  readonly childFaults: number;
  /** More than one in a zombie: its first thread is gone, and others still run. */
  readonly threads: number;
  /** Clock ticks since boot, as text: with the pid it names a process for ever. */
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

/** `NAME=value` entries, or none when they may not be read. */
export function readEnvironment(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** The same for all who have the same file open. When nobody has, the next file may get it. */
export const fileId = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

/** What it prints to: its standard output and its error output, as far as they may be seen. */
export function readOutputs(pid: number): readonly string[] {
  return [1, 2].flatMap((fd) => {
    try {
      return [fileId(statSync(`/proc/${pid}/fd/${fd}`))];
    } catch {
      return [];
    }
  });
}

/** Nothing of it runs any more: only its parent has still to be told. */
export const isEnded = (stat: ProcessStat | undefined): boolean =>
  stat === undefined || ((stat.state === 'Z' || stat.state === 'X') && stat.threads <= 1);

/** Whether the process of this pid is the one that started then, and runs. */
export function isAlive(pid: number, startTime: string): boolean {
  const stat = readStat(pid);
  return stat?.startTime === startTime && !isEnded(stat);
}

/** Changes with every boot: start times of another boot mean nothing. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
