import { drained, type Steps } from '../../base/steps.ts';
import { complete } from '../complete.ts';
import { limits } from '../limits.ts';
import { defaultNamespace } from '../namespace/namespace.ts';
import { canonicalGroup } from '../task-group/canonicalize.ts';
import { canonicalJobUpdate } from '../task-group/policy-defaults.ts';
import { type TaskGroup, TaskGroupSchema } from '../task-group/task-group.ts';
import { withImpliedConstraints } from './implied-constraints.ts';
import { type Job, type JobInput, JobSchema } from './job.ts';

/** Defaults that the agent contributes. */
export interface JobDefaults {
  readonly region: string;
  readonly namespace: string;
}

const ordinaryDefaults: JobDefaults = { region: 'global', namespace: defaultNamespace };

/**
 * The job as it is stored and read: every field is there, with the defaults of its type; empty lists and maps
 * are null; its requirements of nodes are among its constraints. Idempotent. Does not validate: see
 * `validateJob`. Source: docs/behaviour/job-specification.md#canonical-jobs.
 */
export const canonicalizeJob = (input: JobInput, defaults: JobDefaults = ordinaryDefaults): Job =>
  drained(canonicalizeJobSteps(input, defaults));

/** Canonicalizes a job group by group. */
export function* canonicalizeJobSteps(
  input: JobInput,
  defaults: JobDefaults = ordinaryDefaults,
): Steps<Job> {
  const jobType = input.Type || 'service';
  const jobId = input.ID ?? '';
  const namespace = input.Namespace || defaults.namespace;
  const datacenters = input.Datacenters ?? [];
  const TaskGroups: TaskGroup[] = [];
  for (const group of input.TaskGroups ?? []) {
    const filled = canonicalGroup(group, { job: input, jobId, jobType, namespace });
    TaskGroups.push(withImpliedConstraints(complete(TaskGroupSchema, filled)));
    yield;
  }
  const head = complete(JobSchema, {
    ...input,
    Name: input.Name || jobId,
    Region: input.Region || defaults.region,
    Namespace: namespace,
    Type: jobType,
    Priority: input.Priority || limits.job.priorityDefault,
    Datacenters: datacenters.length > 0 ? datacenters : ['*'],
    NodePool: input.NodePool || 'default',
    TaskGroups: [],
    Update: canonicalJobUpdate(jobType, input.Update),
    Periodic: input.Periodic && { ...input.Periodic, TimeZone: input.Periodic.TimeZone || 'UTC' },
    Payload: input.Payload || null,
    Migrate: null,
    Reschedule: null,
    RegistryToken: '',
    SecretsToken: '',
  });
  return { ...head, TaskGroups };
}
