/**
 * Runs an agent with a node under churn for a given time, with rests in between. Its resources are
 * sampled at each rest, and compared with the first rests at the end. The agent is the bundle that
 * users install: Node keeps every source file of a checkout in memory.
 */
import { join } from 'node:path';
import {
  installBundle,
  type RunningAgent,
  startAgent,
  temporaryFolder,
} from '../../bench/agent.ts';
import { readyNode } from '../../bench/jobs.ts';
import { usedMs } from '../../bench/processes.ts';
import { startChurn } from './churn.ts';
import { type Held, held } from './sample.ts';
import { type Sample, verdictOn, warmMinutes } from './verdict.ts';

export interface SoakOptions {
  readonly minutes: number;
  readonly seed: number;
  readonly driver: string;
  readonly progress: (sample: Sample) => void;
  /** For tests: the length of a minute and of a rest. */
  readonly minuteMs?: number;
  readonly restMs?: number;
}

export interface SoakReport {
  readonly samples: readonly Sample[];
  readonly faults: readonly string[];
}

const jobs = 5;
/** The number of rests between the first and the last. */
const restsWanted = 3;
/** Longer than a program at rest takes to release memory, and keeps connections that it does not use. */
const restMs = 90_000;
const lookEveryMs = 500;
/** It is calm when it works less than this for some time. */
const calmPercent = 10;
const calmMs = 2_000;
const calmWithinMs = 300_000;

type AtRest = Held & Pick<Sample, 'busyPercent'>;

export async function soak(options: SoakOptions): Promise<SoakReport> {
  const folder = temporaryFolder();
  try {
    const command = await installBundle(folder.path);
    const agent = await startAgent({ command, dataDirectory: join(folder.path, 'data') });
    try {
      return await soakAgent(agent, folder.path, options);
    } finally {
      await agent.stop();
    }
  } finally {
    await folder.remove();
  }
}

async function soakAgent(
  agent: RunningAgent,
  folder: string,
  { minutes, seed, driver, progress, minuteMs = 60_000, ...rest }: SoakOptions,
): Promise<SoakReport> {
  await readyNode(agent.target);
  const samples: Sample[] = [];
  let updates = 0;
  const take = async (minute: number) => {
    const sample = { minute, updates, ...(await atRest(agent.pid, folder, rest.restMs ?? restMs)) };
    samples.push(sample);
    progress(sample);
  };
  await take(0);
  let before = 0;
  for (const minute of restsOf(minutes)) {
    const churn = startChurn({ target: agent.target, seed: seed + minute, jobs, driver });
    await Promise.race([sleep((minute - before) * minuteMs), churn.broken]);
    updates += churn.updates();
    await churn.end();
    await take(minute);
    before = minute;
  }
  return { samples, faults: verdictOn(samples) };
}

/** The minutes of churn after which there is a rest. */
export function restsOf(minutes: number): readonly number[] {
  const step = (minutes - warmMinutes) / restsWanted;
  const later = Array.from({ length: restsWanted }, (_, at) => warmMinutes + (at + 1) * step);
  return [warmMinutes, ...later];
}

/** The least that it holds in the second half of a rest, as memory is released in steps. */
async function atRest(pid: number, folder: string, lastsMs: number): Promise<AtRest> {
  await calm(pid, folder);
  const usedBeforeMs = usedMs(pid);
  const beginMs = performance.now();
  await sleep(lastsMs / 2);
  let least = held(pid, folder);
  const endMs = performance.now() + lastsMs / 2;
  while (performance.now() < endMs) {
    await sleep(lookEveryMs);
    const now = held(pid, folder);
    least = {
      rssMb: Math.min(least.rssMb, now.rssMb),
      supervisorRssMb: Math.min(least.supervisorRssMb, now.supervisorRssMb),
      descriptors: Math.min(least.descriptors, now.descriptors),
      processes: Math.min(least.processes, now.processes),
      mounts: Math.min(least.mounts, now.mounts),
      directories: Math.min(least.directories, now.directories),
    };
  }
  const busyPercent = (100 * (usedMs(pid) - usedBeforeMs)) / (performance.now() - beginMs);
  return { ...least, busyPercent };
}

/** Waits until the work left from the churn is done, within a bound. */
async function calm(pid: number, folder: string): Promise<void> {
  const endMs = performance.now() + calmWithinMs;
  while (performance.now() < endMs) {
    const before = usedMs(pid);
    await sleep(calmMs);
    const isBusy = usedMs(pid) - before > (calmMs * calmPercent) / 100;
    if (!isBusy && held(pid, folder).directories === 0) return;
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
