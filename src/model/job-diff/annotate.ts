import type { DesiredUpdates } from '../evaluation/evaluation.ts';
import { destructiveTaskChange } from '../job/destructive-change.ts';
import type { Job } from '../job/job.ts';
import { groupNamed } from '../job/job-rules.ts';
import type { FieldDiff, GroupDiff, JobDiff, TaskDiff } from './job-diff.ts';

export interface Planned {
  readonly old: Job | undefined;
  readonly next: Job;
  /** The scheduler's updates, by group. */
  readonly updates: Readonly<Record<string, DesiredUpdates>>;
}

/**
 * The difference, annotated with the effect of each change. The scheduler's own rule decides whether a task
 * is updated in place; it is not guessed from the changed fields. Source: docs/behaviour/jobs.md#annotations,
 * docs/behaviour/scheduling.md#updates-in-place.
 */
export const annotated = (diff: JobDiff, planned: Planned): JobDiff => ({
  ...diff,
  TaskGroups: diff.TaskGroups?.map((group) => annotatedGroup(group, planned)) ?? null,
});

const annotatedGroup = (group: GroupDiff, planned: Planned): GroupDiff => ({
  ...group,
  Fields: group.Fields?.map((field) => annotatedCount(field)) ?? null,
  Tasks: group.Tasks?.map((task) => annotatedTask(task, group, planned)) ?? null,
  Updates: updatesOf(planned.updates, group.Name),
});

function annotatedCount(field: FieldDiff): FieldDiff {
  if (field.Name !== 'Count') return field;
  const isMore = Number(field.New) > Number(field.Old);
  return { ...field, Annotations: [isMore ? 'forces create' : 'forces destroy'] };
}

function annotatedTask(task: TaskDiff, group: GroupDiff, { old, next }: Planned): TaskDiff {
  const says = (text: string): TaskDiff => ({ ...task, Annotations: [text] });
  if (group.Type === 'Added') return says('forces create');
  if (group.Type === 'Deleted') return says('forces destroy');
  if (task.Type === 'Added' || task.Type === 'Deleted') return says(replaced);
  if (old === undefined || groupNamed(next, group.Name) === undefined) return task;
  // Also for a task without changes of its own: it uses the meta of its job and group.
  if (destructiveTaskChange(old, next, group.Name, task.Name) !== undefined) return says(replaced);
  return task.Type === 'None' ? task : says('forces in-place update');
}

const replaced = 'forces create/destroy update';

/** The words for updates, in the order in which they are told. */
const words = {
  Place: 'create',
  Stop: 'destroy',
  Migrate: 'migrate',
  Canary: 'canary',
  InPlaceUpdate: 'in-place update',
  DestructiveUpdate: 'create/destroy update',
  Ignore: 'ignore',
} as const satisfies Partial<Record<keyof DesiredUpdates, string>>;

function updatesOf(updates: Planned['updates'], group: string): GroupDiff['Updates'] {
  const desired = Object.hasOwn(updates, group) ? updates[group] : undefined;
  if (desired === undefined) return {};
  const told = Object.entries(words).map(
    ([key, word]) => [word, desired[key as keyof typeof words]] as const,
  );
  return Object.fromEntries(told.filter(([, count]) => count > 0));
}
