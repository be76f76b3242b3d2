/** Rules for a request to scale a group. Source: docs/contract/jobs.md#scale-a-group. */
import type { Fault } from '../errors.ts';
import { limits } from '../limits.ts';
import { below, faultAt, type Path, quote } from '../path.ts';
import { Anything, type Input, type Model, Nullable, Text, TextMap, Type } from '../schema.ts';
import type { TaskGroup } from '../task-group/task-group.ts';
import { validateVolume } from '../volume/validate.ts';
import type { Job } from './job.ts';

/** A request to scale. `Error` is a text or a boolean, `Meta` any JSON. */
export const ScaleSchema = Type.Object({
  Count: Nullable(Type.Integer()),
  Target: TextMap(),
  Message: Text({ maxLength: limits.scaling.textLengthMax }),
  Error: Anything(),
  Meta: Anything(),
});
export type ScaleRequest = Input<Model<typeof ScaleSchema>>;

const at = (...keys: string[]): Path => below(null, ...keys);

/** Faults of a request to scale that need no look at the job. */
export function scaleFaults(
  { Count, Target, Message, Error: error, Meta }: ScaleRequest,
  place: { readonly namespace: string; readonly jobId: string },
): Fault[] {
  const faults: Fault[] = [];
  const fault = (path: Path, message: string) => faults.push(faultAt(path, message));
  if (Count != null && Count < 0) fault(at('Count'), `must be at least 0, got ${Count}`);
  if (!Target?.Group) fault(at('Target', 'Group'), 'is required: the name of the group');
  const named = { Namespace: place.namespace, Job: place.jobId };
  for (const [key, expected] of Object.entries(named)) {
    const given = Target?.[key] ?? '';
    if (given === '' || given === expected) continue;
    fault(at('Target', key), `must be ${quote(expected)} as in the path, got ${quote(given)}`);
  }
  const { textLengthMax, metaLengthMax } = limits.scaling;
  if (error != null && typeof error !== 'string' && typeof error !== 'boolean') {
    fault(at('Error'), 'must be a text or a boolean');
  } else if (typeof error === 'string' && error.length > textLengthMax) {
    fault(at('Error'), `must be at most ${textLengthMax} characters long`);
  }
  if (!Message && !error) fault(at('Message'), 'or Error is required: one of the two');
  if (Count != null && error === true) fault(at('Error'), 'cannot be true together with a Count');
  if (Meta != null && JSON.stringify(Meta).length > metaLengthMax) {
    fault(at('Meta'), `must be at most ${metaLengthMax} characters of JSON`);
  }
  return faults;
}

/** The reasons that the group cannot have this count, in the order of docs/behaviour/jobs.md#scale. */
export function countFaults(job: Job, group: TaskGroup, count: number): Fault[] {
  const faults: Fault[] = [];
  const fault = (message: string) => faults.push(faultAt(at('Count'), message));
  if (job.Type === 'system' && count > 1) {
    fault(`must be 0 or 1 in a system job, got ${count}`);
  }
  const { Min = null, Max = null } = group.Scaling ?? {};
  if (Min !== null && count < Min) {
    fault(`must be at least ${Min}, the Min of the group's scaling policy, got ${count}`);
  }
  if (Max !== null && count > Max) {
    fault(`must be at most ${Max}, the Max of the group's scaling policy, got ${count}`);
  }
  const others = job.TaskGroups.reduce((sum, { Count }) => sum + Count, -group.Count);
  const { countMax } = limits.job;
  if (others + count > countMax) {
    fault(`must leave the job at ${countMax} in all, and its other groups have ${others}`);
  }
  // A volume may be for a single instance. Its other faults do not depend on the count.
  for (const [name, volume] of Object.entries(group.Volumes ?? {})) {
    const context = { jobType: job.Type, count, canaries: group.Update?.Canary ?? 0 };
    const wrong = (of: typeof context) => {
      const messages: string[] = [];
      validateVolume(volume, at('Volumes', name), (_, message) => messages.push(message), of);
      return messages;
    };
    const before = wrong({ ...context, count: 1 });
    const [message] = wrong(context).filter((one) => !before.includes(one));
    if (message !== undefined) fault(`does not fit the volume ${quote(name)}, which ${message}`);
  }
  return faults;
}

/** The job with another count of a group. */
export const withCount = (job: Job, groupName: string, count: number): Job => ({
  ...job,
  TaskGroups: job.TaskGroups.map((group) =>
    group.Name === groupName ? { ...group, Count: count } : group,
  ),
});
