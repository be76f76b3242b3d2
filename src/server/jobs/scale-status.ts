import { each, type Steps } from '../../base/steps.ts';
import { isTerminal } from '../../model/allocation/allocation-rules.ts';
import type { Job } from '../../model/job/job.ts';
import type { GroupScale, ScaleStatus } from '../../model/scaling-event/scaling-event.ts';
import { allocations, inNamespace, scalingEvents } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';

/**
 * For each group, how many allocations are wanted and running, and its scaling events. Canaries and
 * ended allocations do not count. In steps, since a job may have very many allocations.
 * Source: docs/behaviour/jobs.md#scale.
 */
export function* scaleStatus(snapshot: Snapshot, job: Job): Steps<ScaleStatus> {
  const prefix = inNamespace(job.Namespace, job.ID);
  const groups = new Map<string, { -readonly [K in keyof GroupScale]: GroupScale[K] }>();
  for (const { Name, Count } of job.TaskGroups) {
    const nothing = { Placed: 0, Running: 0, Healthy: 0, Unhealthy: 0, Events: null };
    groups.set(Name, { Desired: Count, ...nothing });
  }
  for (const { TaskGroup, Events } of snapshot.table(scalingEvents).scan({ prefix })) {
    const group = groups.get(TaskGroup);
    // Rows written before 0.1.1 have an empty text if there was no evaluation.
    if (group) group.Events = Events.map((event) => ({ ...event, EvalID: event.EvalID || null }));
  }
  const all = snapshot.table(allocations).by('job').scan({ prefix });
  yield* each(all, (allocation) => {
    const { JobCreateIndex, TaskGroup, ClientStatus, DeploymentStatus } = allocation;
    const group = groups.get(TaskGroup);
    if (group === undefined || JobCreateIndex !== job.CreateIndex) return;
    if (isTerminal(allocation) || DeploymentStatus?.Canary) return;
    group.Placed++;
    if (ClientStatus === 'running') group.Running++;
    if (DeploymentStatus?.Healthy === true) group.Healthy++;
    if (DeploymentStatus?.Healthy === false) group.Unhealthy++;
  });
  return {
    JobID: job.ID,
    Namespace: job.Namespace,
    JobCreateIndex: job.CreateIndex,
    JobModifyIndex: job.JobModifyIndex,
    JobStopped: job.Stop,
    TaskGroups: Object.fromEntries(groups),
  };
}
