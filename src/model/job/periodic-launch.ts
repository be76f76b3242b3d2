/** The launches of a periodic job. Source: docs/behaviour/jobs.md#launches. */
import { instantToMs } from '../../base/instant.ts';
import type { PeriodicLaunch } from '../periodic-launch/periodic-launch.ts';
import type { Job } from './job.ts';
import { isParameterized } from './job-rules.ts';
import { schedulesOf } from './schedule.ts';

type Pattern = Pick<Job, 'Periodic' | 'ParameterizedJob' | 'Dispatched' | 'Stop'>;

/**
 * Whether the schedule launches the job. If it is also parameterized, the schedule launches its dispatched
 * children.
 */
export const isLaunching = (job: Pattern): boolean =>
  job.Periodic?.Enabled === true && !job.Stop && !isParameterized(job);

/** The first slot after an instant, in ms; `undefined` if there is none, or if the job is not launched. */
export function nextLaunch(job: Pattern, afterMs: number): number | undefined {
  if (!isLaunching(job)) return undefined;
  let nextMs: number | undefined;
  for (const schedule of schedulesOf(job.Periodic!)) {
    const slotMs = schedule.next(afterMs);
    if (slotMs !== undefined && slotMs < (nextMs ?? Number.POSITIVE_INFINITY)) nextMs = slotMs;
  }
  return nextMs;
}

/** The last slot after an instant and up to another, in ms; `undefined` if there is none. */
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
 * The instant, in ms, up to which the slots of a job are settled. Without a noted launch, it is the
 * submission.
 */
export const settledMs = (
  job: Pick<Job, 'SubmitTime'>,
  launch: PeriodicLaunch | undefined,
): number => instantToMs(launch?.Launch ?? job.SubmitTime ?? 0);

/** The id of the child that is launched at a second. */
export const launchId = (parentId: string, slotMs: number): string =>
  `${parentId}/periodic-${Math.floor(slotMs / 1000)}`;
