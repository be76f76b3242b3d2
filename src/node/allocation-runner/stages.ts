/**
 * The order in which the tasks of an allocation run, and when the end of one task ends the others.
 * Pure.
 * Source: docs/behaviour/client.md#the-order-of-tasks.
 */
import type { TaskState } from '../../model/allocation/task-state.ts';
import type { Task } from '../../model/task/task.ts';

export type TaskSketch = Pick<Task, 'Name' | 'Lifecycle' | 'Leader'>;
export type StateSketch = Pick<TaskState, 'State' | 'Failed' | 'StartedAt'>;
export type States = Readonly<Record<string, StateSketch>>;

export type Hook = 'prestart' | 'main' | 'poststart' | 'poststop';

export const hookOf = (task: Pick<Task, 'Lifecycle'>): Hook => task.Lifecycle?.Hook || 'main';

export const isSidecar = (task: Pick<Task, 'Lifecycle'>): boolean =>
  task.Lifecycle?.Sidecar === true && hookOf(task) !== 'poststop';

/** Names of the tasks that may run now, including those that run or have run. */
export function allowedTasks(tasks: readonly TaskSketch[], states: States): ReadonlySet<string> {
  const is = (task: TaskSketch, ...words: readonly string[]): boolean =>
    words.includes(states[task.Name]?.State ?? 'pending');
  const of = (hook: Hook): readonly TaskSketch[] => tasks.filter((task) => hookOf(task) === hook);
  const prestartDone = of('prestart').every((task) =>
    isSidecar(task) ? is(task, 'running') : is(task, 'dead') && states[task.Name]?.Failed !== true,
  );
  const mainStarted = prestartDone && of('main').every((task) => !is(task, 'pending'));
  const others = tasks.filter((task) => hookOf(task) !== 'poststop');
  // Nothing has run, so there is nothing to clean up.
  const cleanUp =
    others.every((task) => is(task, 'dead')) &&
    others.some((task) => states[task.Name]?.StartedAt != null);
  const stages: Readonly<Record<Hook, boolean>> = {
    prestart: true,
    main: prestartDone,
    poststart: mainStarted,
    poststop: cleanUp,
  };
  return new Set(tasks.filter((task) => stages[hookOf(task)]).map(({ Name }) => Name));
}

export type EndReason =
  | { readonly kind: 'sibling-failed'; readonly task: string }
  | { readonly kind: 'leader-dead' }
  | { readonly kind: 'main-tasks-dead' }
  /** `duration` is in nanoseconds. Poststop tasks do not run either. */
  | { readonly kind: 'max-run-duration'; readonly duration: number }
  /** `duration` is in nanoseconds. */
  | { readonly kind: 'no-contact'; readonly duration: number };

/** Why the remaining tasks must end, if they must. The end of a poststop task is no reason. */
export function endReason(tasks: readonly TaskSketch[], states: States): EndReason | undefined {
  const concerned = tasks.filter((task) => hookOf(task) !== 'poststop');
  const isDead = (task: TaskSketch): boolean => states[task.Name]?.State === 'dead';
  const failed = concerned.find((task) => isDead(task) && states[task.Name]?.Failed);
  if (failed !== undefined) return { kind: 'sibling-failed', task: failed.Name };
  if (concerned.some((task) => task.Leader && isDead(task))) return { kind: 'leader-dead' };
  const working = concerned.filter((task) => !isSidecar(task));
  if (working.length > 0 && working.length < concerned.length && working.every(isDead)) {
    return { kind: 'main-tasks-dead' };
  }
  return undefined;
}

/** The tasks to end, in rounds that follow each other. Poststop tasks are in none. */
export function endingRounds(tasks: readonly TaskSketch[]): readonly (readonly string[])[] {
  const concerned = tasks.filter((task) => hookOf(task) !== 'poststop');
  const rest = concerned.filter((task) => !task.Leader);
  return [
    concerned.filter((task) => task.Leader),
    rest.filter((task) => !isSidecar(task)),
    rest.filter((task) => isSidecar(task)),
  ]
    .map((round) => round.map(({ Name }) => Name))
    .filter((round) => round.length > 0);
}

/** Poststop tasks that will never be allowed to run, once there is nothing left to wait for. */
export function leftovers(tasks: readonly TaskSketch[], states: States): readonly string[] {
  const rest = tasks.filter((task) => hookOf(task) !== 'poststop');
  if (!rest.every(({ Name }) => states[Name]?.State === 'dead')) return [];
  const allowed = allowedTasks(tasks, states);
  return tasks
    .filter((task) => hookOf(task) === 'poststop' && !allowed.has(task.Name))
    .map(({ Name }) => Name)
    .filter((name) => states[name]?.State === 'pending');
}
