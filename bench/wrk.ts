import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Figure, Goal } from './benchmark.ts';
import { limits } from './limits.ts';
import { listenersOn, mainThreadMs, usedMs } from './processes.ts';
import { spreadOf } from './statistics.ts';
import { authorityOf, type Target } from './target.ts';

const script = fileURLToPath(new URL('./wrk.lua', import.meta.url));

/** The part of a request that is different in each of a load; as long as the number in its place. */
export const numbered = '#NUMBER#';

interface LoadOptions {
  readonly connections?: number;
  /** Whole seconds. */
  readonly seconds?: number;
}

/** The measurements of a load. */
export interface Load {
  readonly answers: number;
  readonly perSecond: number;
  /** Times from sending a request to its whole answer. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** Processor time for an answer: of the server's processes, of its main thread, and of the load itself. */
  readonly serverUs: number;
  readonly mainThreadUs: number;
  readonly loadUs: number;
}

/** The line that `wrk.lua` prints. */
interface Printed {
  readonly answers: number;
  readonly elapsedUs: number;
  readonly refused: number;
  readonly lost: number;
  readonly loadSeconds: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly p999Us: number;
}

/**
 * Sends the request over and over on every connection, from a thread of `wrk`: a closed loop, so a slow server
 * is asked less often.
 */
export async function load(
  target: Target,
  request: Buffer,
  { connections = limits.connections, seconds = limits.loadSeconds }: LoadOptions = {},
): Promise<Load> {
  const servers = listenersOn(target.port);
  const before = usedBy(servers);
  const flags = [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    `--timeout=${limits.answerMs / 1000}s`,
  ];
  const { stdout } = await promisify(execFile)(
    'wrk',
    [...flags, '-s', script, `http://${authorityOf(target)}/`],
    { env: { ...process.env, BENCH_REQUEST: request.toString() } },
  );
  const after = usedBy(servers);
  const printed = JSON.parse(stdout.slice(stdout.lastIndexOf('{'))) as Printed;
  const { answers, refused, lost } = printed;
  // Refusals are never measured by mistake.
  if (answers === 0 || refused + lost > 0) {
    throw new Error(`of ${answers} answers ${refused} were refusals, and ${lost} did not come`);
  }
  return {
    answers,
    perSecond: (answers / printed.elapsedUs) * 1e6,
    p50Ms: printed.p50Us / 1000,
    p99Ms: printed.p99Us / 1000,
    p999Ms: printed.p999Us / 1000,
    serverUs: ((after.allMs - before.allMs) / answers) * 1000,
    mainThreadUs: ((after.mainMs - before.mainMs) / answers) * 1000,
    loadUs: (printed.loadSeconds / answers) * 1e6,
  };
}

function usedBy(pids: readonly number[]) {
  const allMs = pids.reduce((sum, pid) => sum + usedMs(pid), 0);
  return { allMs, mainMs: mainThreadMs(pids[0]!) };
}

/** The loads of all runs; none where it was not measured. */
export interface Loads {
  readonly ours: readonly Load[];
  readonly baseline?: readonly Load[];
}

/** The targets of the figures of a load. */
type Goals = { readonly [figure in keyof Load]?: Goal };

const told = [
  ['perSecond', 'answered', '/s'],
  ['serverUs', 'processor time of an answer', 'µs'],
  ['mainThreadUs', 'processor time, main thread', 'µs'],
  ['p50Ms', 'median', 'ms'],
  ['p99Ms', 'last of 100', 'ms'],
  ['p999Ms', 'last of 1,000', 'ms'],
] as const;

/** The figures of a load, for the table of its benchmark. */
export function loadFigures(name: string, { ours, baseline }: Loads, goals: Goals = {}): Figure[] {
  if (ours.length === 0) return [];
  return told.map(([key, figure, unit]) => ({
    name: `${name}: ${figure}`,
    unit,
    ours: ours.map((load) => load[key]),
    ...(baseline && { baseline: baseline.map((load) => load[key]) }),
    ...(goals[key] && { target: goals[key] }),
  }));
}

/** The processor time of the baseline as a part of ours, each load compared with its neighbour in time. */
export const partFigure = (
  name: string,
  { ours, baseline }: Required<Loads>,
  least: number,
): Figure => ({
  name: `${name}: processor time of the baseline, as a part of ours`,
  unit: '',
  ours: ours.map(({ serverUs }, at) => baseline[at]!.serverUs / serverUs),
  target: { of: 'median', is: 'at least', value: least },
});

/** The cost of the loads themselves. */
export function costNote(loads: readonly Load[]): string {
  const median = (key: 'loadUs' | 'serverUs') => spreadOf(loads.map((load) => load[key])).median;
  return (
    `An answer takes the load ${median('loadUs').toFixed(1)} µs of processor time and the server ` +
    `${median('serverUs').toFixed(1)} µs, in the medians of all loads.`
  );
}
