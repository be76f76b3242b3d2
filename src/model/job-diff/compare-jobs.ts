import { drained, type Steps } from '../../base/steps.ts';
import { type Job, JobSchema } from '../job/job.ts';
import { isSame } from '../same.ts';
import type { Type } from '../schema.ts';
import { withSettingsAsText } from '../task/driver-settings.ts';
import { type Task, TaskSchema } from '../task/task.ts';
import { type TaskGroup, TaskGroupSchema } from '../task-group/task-group.ts';
import { type Found, isUnchanged, sortedFields, sortedOf } from './compare-fields.ts';
import { type Compare, compileRecord } from './compile.ts';
import type { DiffType, GroupDiff, JobDiff, TaskDiff } from './job-diff.ts';

/**
 * The difference of two canonical jobs; `undefined` stands for a job that does not exist. Of a job, group or
 * task it tells the changed fields, of a block all fields if any of them changed. It has all groups and
 * tasks. It leaves out fields of the server, and the order of lists without an order.
 * Source: docs/behaviour/jobs.md#plans.
 */
export const compareJobs = (old: Job | undefined, next: Job | undefined): JobDiff =>
  drained(compareJobsSteps(old, next));

/** Compares two jobs group by group. */
export function* compareJobsSteps(before: Job | undefined, after: Job | undefined): Steps<JobDiff> {
  const [old, next] = [before && withSettingsAsText(before), after && withSettingsAsText(after)];
  const changed = changedOf(job(old, next));
  const TaskGroups: GroupDiff[] = [];
  for (const [oldGroup, nextGroup] of byName(old?.TaskGroups, next?.TaskGroups)) {
    TaskGroups.push(groupDiff(oldGroup, nextGroup));
    yield;
  }
  return {
    Type: typeOf(old, next, changed, TaskGroups),
    ID: (next ?? old)?.ID ?? '',
    ...changed,
    TaskGroups: TaskGroups.length === 0 ? null : TaskGroups,
  };
}

function groupDiff(old: TaskGroup | undefined, next: TaskGroup | undefined): GroupDiff {
  const { Name } = (next ?? old)!;
  if (isSame(old, next))
    return { ...unchanged(Name), Tasks: next!.Tasks.map(same).sort(inOrder), Updates: null };
  const changed = changedOf(group(old, next));
  const Tasks = byName(old?.Tasks, next?.Tasks).map(([before, after]) => taskDiff(before, after));
  return { Type: typeOf(old, next, changed, Tasks), Name, ...changed, Tasks, Updates: null };
}

function taskDiff(old: Task | undefined, next: Task | undefined): TaskDiff {
  const { Name } = (next ?? old)!;
  if (isSame(old, next)) return same({ Name });
  const changed = changedOf(task(old, next));
  return { Type: typeOf(old, next, changed), Name, ...changed, Annotations: null };
}

const unchanged = (Name: string) => ({ Type: 'None', Name, Fields: null, Objects: null }) as const;
const same = ({ Name }: Pick<Task, 'Name'>): TaskDiff => ({
  ...unchanged(Name),
  Annotations: null,
});
const inOrder = (left: Pick<Task, 'Name'>, right: Pick<Task, 'Name'>): number =>
  left.Name < right.Name ? -1 : 1;

const job = compiled(JobSchema, '');
const group = compiled(TaskGroupSchema, 'TaskGroups');
const task = compiled(TaskSchema, 'TaskGroups.Tasks');

/** Compiled at the first use: most programs that load this file never compare jobs. */
function compiled(schema: Type.TSchema, place: string): Compare {
  let compare: Compare | undefined;
  return (old, next) => {
    compare ??= compileRecord(schema, place);
    return compare(old, next);
  };
}

type Changed = Pick<TaskDiff, 'Fields' | 'Objects'>;

const changedOf = ({ fields, objects }: Found): Changed => ({
  Fields: sortedFields(fields.filter((field) => !isUnchanged(field))),
  ...sortedOf(objects),
});

function typeOf(
  old: object | undefined,
  next: object | undefined,
  { Fields, Objects }: Changed,
  inside: readonly { readonly Type: DiffType }[] = [],
): DiffType {
  if (old === undefined || next === undefined) {
    if (old === next) return 'None';
    return old === undefined ? 'Added' : 'Deleted';
  }
  const isSameInside = inside.every(({ Type }) => Type === 'None');
  return Fields === null && Objects === null && isSameInside ? 'None' : 'Edited';
}

type Pair<T> = readonly [T | undefined, T | undefined];

/** Pairs of the same name, in the order of names. */
function byName<T extends { readonly Name: string }>(
  old: readonly T[] = [],
  next: readonly T[] = [],
): Pair<T>[] {
  const before = new Map(old.map((one) => [one.Name, one]));
  const after = new Map(next.map((one) => [one.Name, one]));
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.map((name) => [before.get(name), after.get(name)]);
}
