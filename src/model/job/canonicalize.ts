import { complete } from '../complete.ts';
import { limits } from '../limits.ts';
import { defaultNamespace } from '../namespace/namespace.ts';
import { canonicalGroup } from '../task-group/canonicalize.ts';
import { canonicalJobUpdate } from '../task-group/policy-defaults.ts';
import { withImpliedConstraints } from './implied-constraints.ts';
import { type Job, type JobInput, JobSchema } from './job.ts';

/** What the agent contributes. */
export interface JobDefaults {
  readonly region: string;
  readonly namespace: string;
}

const ordinaryDefaults: JobDefaults = { region: 'global', namespace: defaultNamespace };

/**
 * The job as it is stored and read: every field is there, with the defaults of its type; empty lists
 * and maps are null; what it implies of nodes is among its constraints. Idempotent. It does not
 * judge: see `validateJob`. Source: facts §2.
 */
export const canonicalizeJob = (input: JobInput, defaults: JobDefaults = ordinaryDefaults): Job =>
  withImpliedConstraints(filledJob(input, defaults));

/** Every field is there, with the defaults of the type, and nothing besides. */
function filledJob(input: JobInput, defaults: JobDefaults): Job {
  const jobType = input.Type || 'service';
  const jobId = input.ID ?? '';
  const namespace = input.Namespace || defaults.namespace;
  const datacenters = input.Datacenters ?? [];
  return complete(JobSchema, {
    ...input,
    Name: input.Name || jobId,
    Region: input.Region || defaults.region,
    Namespace: namespace,
    Type: jobType,
    Priority: input.Priority || limits.job.priorityDefault,
    Datacenters: datacenters.length > 0 ? datacenters : ['*'],
    NodePool: input.NodePool || 'default',
    TaskGroups: (input.TaskGroups ?? []).map((group) =>
      canonicalGroup(group, { job: input, jobId, jobType, namespace }),
    ),
    Update: canonicalJobUpdate(jobType, input.Update),
    Periodic: input.Periodic && { ...input.Periodic, TimeZone: input.Periodic.TimeZone || 'UTC' },
    Payload: input.Payload || null,
    Migrate: null,
    Reschedule: null,
    RegistryToken: '',
    SecretsToken: '',
  });
}
