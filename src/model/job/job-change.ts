/**
 * The changes that a submission makes to the stored job. Source: docs/behaviour/jobs.md#versions-and-indexes.
 */
import { isSame } from '../same.ts';
import { withSettingsAsText } from '../task/driver-settings.ts';
import type { Job, JobInput } from './job.ts';
import { isParameterized, isPeriodic } from './job-rules.ts';

/** Fields that the server sets; they never make a difference. */
const serverFields = [
  'ParentID',
  'Status',
  'StatusDescription',
  'Stable',
  'Version',
  'CreateIndex',
  'ModifyIndex',
  'JobModifyIndex',
  'SubmitTime',
] as const;

/** `submitted` with the server's fields of `stored`. */
function withServerFields(submitted: Job, stored: Job): Job {
  const carried = Object.fromEntries(serverFields.map((field) => [field, stored[field]]));
  return { ...submitted, ...carried };
}

/** Whether the canonical submission equals the stored job, so that there is no new version. */
export const isSameSpecification = (stored: Job, submitted: Job): boolean =>
  isSame(withSettingsAsText(stored), withServerFields(withSettingsAsText(submitted), stored));

/** The version of a submission with a change; `stored` is `undefined` for a new job. */
export function nextVersion(stored: Job | undefined, submittedVersion: number): number {
  if (stored === undefined) return submittedVersion;
  return submittedVersion > stored.Version ? submittedVersion : stored.Version + 1;
}

/** The reasons that the change is refused, as the end of a sentence; `undefined` if it is allowed. */
export function refusedChange(stored: Job | undefined, submitted: Job): string | undefined {
  const before = stored ?? { ...submitted, Dispatched: false };
  const reasons: string[] = [];
  if (before.Type !== submitted.Type) {
    reasons.push(`its type is ${before.Type} and cannot become ${submitted.Type}`);
  }
  if (isPeriodic(before) !== isPeriodic(submitted)) {
    reasons.push(isPeriodic(before) ? 'it must stay periodic' : 'it cannot become periodic');
  }
  if (isParameterized(before) !== isParameterized(submitted)) {
    reasons.push(
      isParameterized(before) ? 'it must stay parameterized' : 'it cannot become parameterized',
    );
  }
  if (before.Dispatched !== submitted.Dispatched) {
    reasons.push(
      before.Dispatched
        ? 'it must stay a dispatched job'
        : 'only a dispatch makes a dispatched job',
    );
  }
  return reasons.length === 0 ? undefined : reasons.join(', and ');
}

/** Fields of the stored job that a submission does not change. */
export interface Preserved {
  readonly preserveCounts: boolean;
  readonly preserveResources: boolean;
}

/**
 * The stored job after a registration: the same object if the submission changes nothing, else the row of its
 * next version, not stamped yet. Source: docs/behaviour/jobs.md#versions-and-indexes.
 */
export function registeredJob(stored: Job | undefined, submitted: Job, preserved: Preserved): Job {
  const tagged = withKnownTag(stored, submitted);
  const wanted = stored === undefined ? tagged : withPreserved(stored, tagged, preserved);
  if (stored !== undefined && isSameSpecification(stored, wanted)) return stored;
  return {
    ...wanted,
    Version: nextVersion(stored, wanted.Version),
    Status: stored?.Status ?? 'pending',
    Stable: false,
    VersionTag: null,
  };
}

/**
 * The submission without a tag that the stored version does not have: tags are given to existing versions,
 * one version each, and a new version has none. Source: docs/behaviour/jobs.md#versions-and-indexes.
 */
export const withKnownTag = (stored: Job | undefined, submitted: Job): Job =>
  submitted.VersionTag === null || isSame(stored?.VersionTag, submitted.VersionTag)
    ? submitted
    : { ...submitted, VersionTag: null };

/** Fields that a child has from its launch or dispatch. No submission sets or clears them. */
const launchFields = ['ParentID', 'Dispatched', 'DispatchIdempotencyToken', 'Payload'] as const;

/** The submission of a child, with the fields of its launch or dispatch. */
export function withLaunch(stored: Job | undefined, submitted: JobInput): JobInput {
  if (stored === undefined || stored.ParentID === '') return submitted;
  const carried = Object.fromEntries(launchFields.map((field) => [field, stored[field]]));
  return { ...submitted, ...carried };
}

function withPreserved(stored: Job, submitted: Job, preserved: Preserved): Job {
  const counted = preserved.preserveCounts ? withPreservedCounts(stored, submitted) : submitted;
  return preserved.preserveResources ? withPreservedResources(stored, counted) : counted;
}

/** The submission with the resources of the stored tasks of the same name and group. */
function withPreservedResources(stored: Job, submitted: Job): Job {
  const groups = new Map(stored.TaskGroups.map((group) => [group.Name, group.Tasks]));
  return {
    ...submitted,
    TaskGroups: submitted.TaskGroups.map((group) => {
      const tasks = new Map(groups.get(group.Name)?.map((task) => [task.Name, task.Resources]));
      const Tasks = group.Tasks.map((task) => ({
        ...task,
        Resources: tasks.get(task.Name) ?? task.Resources,
      }));
      return { ...group, Tasks };
    }),
  };
}

/** The submission with the counts of the stored groups of the same name. */
export function withPreservedCounts(stored: Job, submitted: Job): Job {
  const counts = new Map(stored.TaskGroups.map((group) => [group.Name, group.Count]));
  return {
    ...submitted,
    TaskGroups: submitted.TaskGroups.map((group) => ({
      ...group,
      Count: counts.get(group.Name) ?? group.Count,
    })),
  };
}
