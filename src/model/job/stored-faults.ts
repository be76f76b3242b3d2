import { complete } from '../complete.ts';
import { below, faultAt, quote } from '../path.ts';
import type { TaskGroup } from '../task-group/task-group.ts';
import { isPathPart } from '../text-rules.ts';
import { type Job, JobSchema } from './job.ts';
import { validateJob } from './validate.ts';
import type { Warning } from './warnings.ts';

/**
 * What today's rules refuse of a job that was stored before there were some of them. It goes on: it is
 * scheduled, launched, dispatched, scaled, stopped and purged as it is, and whoever looks at it is
 * told. A new rule goes into `validateJob` (and what it calls), and is told here by itself; only what
 * writes a job asks that. Where a stored job would reach out of its place, the node refuses to start
 * it, for no server may be believed there.
 */
export function storedJobWarnings(stored: Job): readonly Warning[] {
  // An older server may not know the newest fields.
  const job = complete(JobSchema, stored);
  const refused = validateJob(job).map(({ pointer, message }) => ({
    pointer,
    message: `${message}: a job is refused for this now, and this one was stored before`,
  }));
  return [...refused, ...job.TaskGroups.flatMap(unstarted)];
}

const unstarted = ({ Tasks }: TaskGroup, index: number): readonly Warning[] =>
  Tasks.flatMap(({ Name }, task) => {
    if (isPathPart(Name)) return [];
    const at = below(null, 'TaskGroups', index, 'Tasks', task);
    return [faultAt(at, `is started anew by no node: its name ${quote(Name)} leads elsewhere`)];
  });
