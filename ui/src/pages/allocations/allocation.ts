/** What the pages of an allocation know of it. */
import type { WholeAllocation } from '../../../../src/model/allocation/present.ts';

export type { AllocationStub } from '../../../../src/model/allocation/allocation-stub.ts';
export type { WholeAllocation } from '../../../../src/model/allocation/present.ts';

export type TaskState = WholeAllocation['TaskStates'][string];
export type TaskEvent = NonNullable<TaskState['Events']>[number];
export type Job = NonNullable<WholeAllocation['Job']>;

export const clientStatuses = [
  'pending',
  'running',
  'complete',
  'failed',
  'lost',
  'unknown',
] as const;

/** Its tasks by name: those of the plan, and any that has a state. */
export function taskNames(one: WholeAllocation): readonly string[] {
  const names = [...Object.keys(one.AllocatedResources.Tasks), ...Object.keys(one.TaskStates)];
  return [...new Set(names)];
}

export const groupOf = (one: WholeAllocation) =>
  one.Job?.TaskGroups?.find(({ Name }) => Name === one.TaskGroup);

export const taskOf = (one: WholeAllocation, task: string) =>
  groupOf(one)?.Tasks?.find(({ Name }) => Name === task);

/** A task that does the work of the group, before those that prepare or accompany it. */
export const firstTask = (one: WholeAllocation): string => {
  const names = taskNames(one);
  return names.find((name) => !one.AllocatedResources.TaskLifecycles[name]?.Hook) ?? names[0] ?? '';
};

const lastStatuses: readonly string[] = ['complete', 'failed', 'lost'];

/** Nothing of it runs, nor will. */
export const isOver = (one: WholeAllocation): boolean => lastStatuses.includes(one.ClientStatus);

/** The key of a status of a task (`parts/status.ts`). */
export function taskStatus({ State, Failed, Paused }: TaskState): string {
  if (Paused !== '') return 'paused';
  return State === 'dead' && Failed ? 'failed' : State;
}

export const runningTasks = (one: WholeAllocation): readonly string[] =>
  taskNames(one).filter((name) => one.TaskStates[name]?.State === 'running');
