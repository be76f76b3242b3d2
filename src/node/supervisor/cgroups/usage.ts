/** The resources that a run uses, as counted by its control groups, or else from `/proc`. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Counters of a run. Values that the system does not tell are absent. */
export interface CountedUsage {
  /** Since its start, user and system. */
  readonly cpuUserMs: number;
  readonly cpuSystemMs: number;
  readonly memoryRssBytes: number;
  readonly memoryCacheBytes?: number;
  readonly memoryMaxUsageBytes?: number;
  readonly throttledPeriods?: number;
  readonly throttledMs?: number;
  readonly pids: readonly number[];
}

/** Not in limits: the kernel reports times in hundredths of a second, whatever its own clock is. */
const tickMs = 10;
/** Not in limits: the kernel's size of a page. */
const pageBytes = 4096;

/** `paths` are the run's groups in all trees. `undefined`: they have no processes. */
export async function readUsage(paths: readonly string[]): Promise<CountedUsage | undefined> {
  const directories = await Promise.all(paths.map(readDirectory));
  const pids = [
    ...new Set(directories.flatMap(({ procs }) => procs.split('\n').filter(Boolean).map(Number))),
  ].sort((left, right) => left - right);
  if (pids.length === 0) return undefined;
  const counted = Object.assign({}, ...directories.map(usageIn)) as Partial<CountedUsage>;
  // Groups without controllers count neither; `/proc` has the values of living processes.
  const isWhole = counted.cpuUserMs !== undefined && counted.memoryRssBytes !== undefined;
  return { ...(isWhole ? {} : await usageOfProcesses(pids)), ...counted, pids } as CountedUsage;
}

interface Directory {
  readonly procs: string;
  readonly files: ReadonlyMap<string, string>;
}

const countingFiles = [
  'cpu.stat',
  'cpuacct.stat',
  'memory.stat',
  'memory.peak',
  'memory.max_usage_in_bytes',
];

async function readDirectory(path: string): Promise<Directory> {
  const present = new Set(await readdir(path).catch(() => []));
  const wanted = countingFiles.filter((name) => present.has(name));
  const texts = await Promise.all(wanted.map((name) => readText(join(path, name))));
  return {
    procs: await readText(join(path, 'cgroup.procs')),
    files: new Map(wanted.map((name, index) => [name, texts[index] ?? ''])),
  };
}

type Numbers = Readonly<Record<string, number | undefined>>;

/** The counters of one directory, of either version; their file names differ. */
function usageIn({ files }: Directory): Partial<CountedUsage> {
  const cpu = numbersIn(files.get('cpu.stat'));
  const accounted = numbersIn(files.get('cpuacct.stat'));
  const memory = numbersIn(files.get('memory.stat'));
  const peak = files.get('memory.peak') ?? files.get('memory.max_usage_in_bytes');
  return {
    ...cpuUsage(cpu, accounted),
    ...memoryUsage(memory),
    ...(peak !== undefined && peak !== '' && { memoryMaxUsageBytes: Number(peak) }),
  };
}

function cpuUsage(cpu: Numbers, accounted: Numbers): Partial<CountedUsage> {
  const { user, system } = accounted;
  const { user_usec: userUs, system_usec: systemUs, nr_throttled: periods } = cpu;
  const throttledMs =
    cpu.throttled_usec === undefined ? (cpu.throttled_time ?? 0) / 1e6 : cpu.throttled_usec / 1e3;
  return {
    ...(user !== undefined && { cpuUserMs: user * tickMs, cpuSystemMs: (system ?? 0) * tickMs }),
    ...(userUs !== undefined && { cpuUserMs: userUs / 1e3, cpuSystemMs: (systemUs ?? 0) / 1e3 }),
    ...(periods !== undefined && { throttledPeriods: periods, throttledMs }),
  };
}

function memoryUsage(memory: Numbers): Partial<CountedUsage> {
  const rss = memory.anon ?? memory.total_rss ?? memory.rss;
  const cache = memory.file ?? memory.total_cache ?? memory.cache;
  return {
    ...(rss !== undefined && { memoryRssBytes: rss }),
    ...(cache !== undefined && { memoryCacheBytes: cache }),
  };
}

const numbersIn = (text = ''): Numbers =>
  Object.fromEntries(
    [...text.matchAll(/^(\S+) (\d+)$/gm)].map(([, key, value]) => [key, Number(value)]),
  );

/** The sum over living processes, including their own ended children. */
export async function usageOfProcesses(pids: readonly number[]): Promise<CountedUsage> {
  const texts = await Promise.all(pids.map((pid) => readText(`/proc/${pid}/stat`)));
  const fields = texts
    .filter((text) => text !== '')
    .map((text) =>
      text
        .slice(text.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number),
    );
  const sum = (...places: readonly number[]): number =>
    fields.reduce(
      (total, one) => places.reduce((part, place) => part + (one[place] ?? 0), total),
      0,
    );
  return {
    cpuUserMs: sum(11, 13) * tickMs,
    cpuSystemMs: sum(12, 14) * tickMs,
    memoryRssBytes: sum(21) * pageBytes,
    pids,
  };
}

const readText = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
