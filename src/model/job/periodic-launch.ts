/** When a periodic job launches. Source: docs/behaviour/jobs.md#launches. */
import { instantToMs } from '../../base/instant.ts';
import type { PeriodicLaunch } from '../periodic-launch/periodic-launch.ts';
import type { Job } from './job.ts';
import { isParameterized } from './job-rules.ts';
import { schedulesOf } from './schedule.ts';

type Pattern = Pick<Job, 'Periodic' | 'ParameterizedJob' | 'Dispatched' | 'Stop'>;

/**
 * Whether its schedule launches it. Of a job that is parameterized as well, what is dispatched is
 * what the schedule launches.
 */
export const isLaunching = (job: Pattern): boolean =>
  job.Periodic?.Enabled === true && !job.Stop && !isParameterized(job);

/** The first slot after an instant, in ms; `undefined`: none, or it is not launched at all. */
export function nextLaunch(job: Pattern, afterMs: number): number | undefined {
  if (!isLaunching(job)) return undefined;
  let nextMs: number | undefined;
  for (const schedule of schedulesOf(job.Periodic!)) {
    const slotMs = schedule.next(afterMs);
    if (slotMs !== undefined && slotMs < (nextMs ?? Number.POSITIVE_INFINITY)) nextMs = slotMs;
  }
  return nextMs;
}

/** The last slot after one instant and up to another, in ms; `undefined`: there is none between. */
export function latestLaunch(job: Pattern, afterMs: number, untilMs: number): number | undefined {
  const firstMs = nextLaunch(job, afterMs);
  if (firstMs === undefined || firstMs > untilMs) return undefined;
  let latestMs = firstMs;
  for (const schedule of schedulesOf(job.Periodic!)) {
    const slotMs = schedule.next(latestMs);
    if (slotMs === undefined || slotMs > untilMs) continue;
    latestMs = Math.max(latestMs, schedule.latest(untilMs) ?? slotMs);
  }
  return latestMs;
}

/**
 * Up to when, in ms, a job's slots are done with. Before anything was noted, those before it was
 * submitted are.
 */
export const settledMs = (
  job: Pick<Job, 'SubmitTime'>,
  launch: PeriodicLaunch | undefined,
): number => instantToMs(launch?.Launch ?? job.SubmitTime ?? 0);

/** The id of what is launched at a second. */
export const launchId = (parentId: string, slotMs: number): string =>
  `${parentId}/periodic-${Math.floor(slotMs / 1000)}`;
