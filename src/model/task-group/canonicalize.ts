import type { JobInput } from '../job/job.ts';
import { scalingPolicyId } from '../scaling-policy/policy-id.ts';
import type { Input } from '../schema.ts';
import { canonicalService } from '../service/canonicalize.ts';
import { canonicalTask } from '../task/canonicalize.ts';
import {
  canonicalMigrate,
  canonicalReschedule,
  canonicalRestart,
  canonicalUpdate,
} from './policy-defaults.ts';
import type { TaskGroup } from './task-group.ts';

export interface GroupPlace {
  readonly job: JobInput;
  readonly jobId: string;
  readonly jobType: string;
  readonly namespace: string;
}

/**
 * A group with the defaults that depend on its job or on its other fields.
 * Source: docs/behaviour/job-specification.md#task-groups.
 */
export function canonicalGroup(group: Input<TaskGroup>, place: GroupPlace): Input<TaskGroup> {
  const { job, jobId, jobType } = place;
  const name = group.Name ?? '';
  const count = group.Count ?? group.Scaling?.Min ?? 1;
  return {
    ...group,
    Count: count,
    Update: canonicalUpdate(jobType, job.Update, group.Update),
    Migrate: canonicalMigrate(jobType, job.Migrate, group.Migrate),
    RestartPolicy: canonicalRestart(jobType, group.RestartPolicy),
    ReschedulePolicy: canonicalReschedule(jobType, job.Reschedule, group.ReschedulePolicy),
    Services: (group.Services ?? []).map((service) =>
      canonicalService(service, { job: jobId, group: name, task: null }),
    ),
    Tasks: (group.Tasks ?? []).map((task) =>
      canonicalTask(task, { job: jobId, jobType, group: name, groupRestart: group.RestartPolicy }),
    ),
    Scaling: group.Scaling && {
      ...group.Scaling,
      Type: group.Scaling.Type || 'horizontal',
      ID: scalingPolicyId([place.namespace, jobId, name]),
      Namespace: place.namespace,
      Target: { Namespace: place.namespace, Job: jobId, Group: name },
      Min: group.Scaling.Min ?? count,
    },
    Volumes: group.Volumes && namedVolumes(group.Volumes),
  };
}

/** A volume is known by its key; its `Name` only repeats the key. */
function namedVolumes(
  volumes: NonNullable<Input<TaskGroup>['Volumes']>,
): NonNullable<Input<TaskGroup>['Volumes']> {
  return Object.fromEntries(
    Object.entries(volumes).map(([name, volume]) => [
      name,
      volume && { ...volume, Name: volume.Name || name },
    ]),
  );
}
