import { complete } from '../complete.ts';
import { below, faultAt, quote } from '../path.ts';
import type { TaskGroup } from '../task-group/task-group.ts';
import { isPathPart } from '../text-rules.ts';
import { type Job, JobSchema } from './job.ts';
import { validateJob } from './validate.ts';
import type { Warning } from './warnings.ts';

/**
 * Faults by rules that are newer than the stored job. The job goes on: it is scheduled, launched, dispatched,
 * scaled, stopped and purged as it is, and its readers are told. A new rule goes into `validateJob` (and the
 * functions that it calls), and is told here automatically; only writes of a job enforce it. If a stored job
 * would reach out of its directory, the node refuses to start it, as a node trusts no server there.
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
    return [faultAt(at, `is not started by any node: its name ${quote(Name)} leads elsewhere`)];
  });
