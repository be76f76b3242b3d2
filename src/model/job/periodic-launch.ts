import { Cron } from 'croner';
import { parseDuration } from '../../base/duration.ts';
import type { Job } from './job.ts';
import { isParameterized } from './job-rules.ts';

/**
 * When the job is launched next after `nowMs`, in Unix milliseconds; `undefined` when its schedule
 * launches nothing any more, or it has none. Source: facts/scheduler.md §2.3.
 */
export function nextLaunch(
  job: Pick<Job, 'Periodic' | 'ParameterizedJob' | 'Dispatched' | 'Stop'>,
  nowMs: number,
): number | undefined {
  const { Periodic, Stop } = job;
  if (Periodic === null || !Periodic.Enabled || Stop || isParameterized(job)) return undefined;
  const specs = Periodic.Spec === '' ? (Periodic.Specs ?? []) : [Periodic.Spec];
  const launches = specs
    .map((spec) => nextOf(spec, Periodic.TimeZone, nowMs))
    .filter((launchMs) => launchMs !== undefined);
  return launches.length === 0 ? undefined : Math.min(...launches);
}

function nextOf(spec: string, timezone: string, nowMs: number): number | undefined {
  const every = /^@every (\S+)$/.exec(spec)?.[1];
  if (every !== undefined) {
    const nanoseconds = parseDuration(every) ?? 0;
    return nanoseconds > 0 ? nowMs + nanoseconds / 1e6 : undefined;
  }
  try {
    return new Cron(spec, { timezone, paused: true }).nextRun(new Date(nowMs))?.getTime();
  } catch {
    // Its form was accepted, and it names no time.
    return undefined;
  }
}
