/** Statistics of the whole machine from `/proc`; parsing is pure. */
import { readFile, realpath, statfs } from 'node:fs/promises';
import type { DiskUsage, NodeUsage } from '../../model/node/node-usage.ts';

/** Ticks of one core since boot. */
export interface CoreTicks {
  readonly name: string;
  readonly user: number;
  readonly system: number;
  readonly idle: number;
}

export const readCores = async (): Promise<readonly CoreTicks[]> =>
  parseCores(await readFile('/proc/stat', 'latin1'));

export const parseCores = (text: string): readonly CoreTicks[] =>
  [...text.matchAll(/^(cpu\d+) (.*)$/gm)].map(([, name, numbers]) => {
    const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, ...interrupts] = numbers!
      .split(' ')
      .map(Number);
    const stolen = interrupts.slice(0, 3).reduce((sum, ticks) => sum + ticks, 0);
    return { name: name!, user: user + nice, system: system + stolen, idle: idle + wait };
  });

/** In percent of each core. */
export const coreUsage = (
  before: readonly CoreTicks[],
  after: readonly CoreTicks[],
): NodeUsage['CPU'] =>
  after.map(({ name, user, system, idle }) => {
    const then = before.find((core) => core.name === name) ?? { user: 0, system: 0, idle: 0 };
    const passed = [user - then.user, system - then.system, idle - then.idle].map((ticks) =>
      Math.max(0, ticks),
    );
    const all = passed.reduce((sum, ticks) => sum + ticks, 0);
    const [User = 0, System = 0, Idle = 0] = passed.map((ticks) =>
      all === 0 ? 0 : (ticks / all) * 100,
    );
    return { CPU: name, User, System, Idle, Total: User + System };
  });

export const readMemory = async (): Promise<NodeUsage['Memory']> =>
  parseMemory(await readFile('/proc/meminfo', 'latin1'));

export function parseMemory(text: string): NodeUsage['Memory'] {
  const bytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) * 1024;
  const [Total, Available, Free] = [bytes('MemTotal'), bytes('MemAvailable'), bytes('MemFree')];
  return { Total, Available, Free, Used: Total - Available };
}

export const readUptimeSeconds = async (): Promise<number> =>
  Math.floor(Number.parseFloat(await readFile('/proc/uptime', 'latin1')));

export async function readDisk(directory: string): Promise<DiskUsage> {
  const [{ blocks, bfree, bavail, bsize, files, ffree }, mounts, path] = await Promise.all([
    statfs(directory),
    readFile('/proc/self/mountinfo', 'utf8'),
    realpath(directory),
  ]);
  const used = blocks - bfree;
  return {
    ...mountOf(mounts, path),
    Size: blocks * bsize,
    Used: used * bsize,
    Available: bavail * bsize,
    UsedPercent: percent(used, used + bavail),
    InodesUsedPercent: percent(files - ffree, files),
  };
}

const percent = (part: number, whole: number): number => (whole === 0 ? 0 : (part / whole) * 100);

/** The mount of a path: the one with the longest mount point, and the newest of these. */
export function mountOf(
  mountinfo: string,
  path: string,
): { readonly Device: string; readonly Mountpoint: string } {
  let found = { Device: '', Mountpoint: '' };
  for (const line of mountinfo.split('\n')) {
    const [left = '', right = ''] = line.split(' - ');
    const point = unescaped(left.split(' ')[4] ?? '');
    const isAbove = point === '/' || path === point || path.startsWith(`${point}/`);
    if (point === '' || !isAbove || point.length < found.Mountpoint.length) continue;
    found = { Device: unescaped(right.split(' ')[1] ?? ''), Mountpoint: point };
  }
  return found;
}

/** Spaces and similar characters are written in octal. */
const unescaped = (text: string): string =>
  text.replace(/\\(\d{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
