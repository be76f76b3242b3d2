/**
 * Rules that need nothing but the allocation. Source: docs/behaviour/allocations.md#statuses.
 */
import { limits } from '../limits.ts';
import type { Allocation, ClientStatus } from './allocation.ts';
import type { TaskEvent, TaskState } from './task-state.ts';

/** The server wants it to end. */
export const isServerTerminal = (allocation: Pick<Allocation, 'DesiredStatus'>): boolean =>
  allocation.DesiredStatus === 'stop' || allocation.DesiredStatus === 'evict';

/** As far as is known, it no longer runs. An `unknown` allocation may return. */
export const isClientTerminal = (allocation: Pick<Allocation, 'ClientStatus'>): boolean =>
  allocation.ClientStatus === 'complete' ||
  allocation.ClientStatus === 'failed' ||
  allocation.ClientStatus === 'lost';

export const isTerminal = (
  allocation: Pick<Allocation, 'DesiredStatus' | 'ClientStatus'>,
): boolean => isServerTerminal(allocation) || isClientTerminal(allocation);

/** Whether it may still run: until the client reports its end. */
export const occupiesNode = (allocation: Pick<Allocation, 'ClientStatus'>): boolean =>
  !isClientTerminal(allocation);

/**
 * Whether it holds its resources. An evicted allocation frees them at once, since its node starts nothing new
 * before it has ended.
 */
export const holdsResources = (
  allocation: Pick<Allocation, 'ClientStatus' | 'DesiredStatus'>,
): boolean => occupiesNode(allocation) && allocation.DesiredStatus !== 'evict';

export interface DerivedClientStatus {
  readonly status: Extract<ClientStatus, 'pending' | 'running' | 'complete' | 'failed'>;
  readonly description: string;
}

/** The client status that a node reports for these tasks: failed > running > pending > complete. */
export function clientStatusOf(
  taskStates: Readonly<Record<string, Pick<TaskState, 'State' | 'Failed'>>>,
): DerivedClientStatus {
  const states = Object.values(taskStates);
  if (states.some((state) => state.State === 'dead' && state.Failed)) {
    return { status: 'failed', description: 'Failed tasks' };
  }
  if (states.some((state) => state.State === 'running')) {
    return { status: 'running', description: 'Tasks are running' };
  }
  if (states.length === 0 || states.some((state) => state.State === 'pending')) {
    return { status: 'pending', description: 'No tasks have started' };
  }
  return { status: 'complete', description: 'All tasks have completed' };
}

export const allocationName = (job: string, group: string, index: number): string =>
  `${nameBeforeIndex(job, group)}${index}]`;

/** The name of an allocation up to its index, which a bracket follows. */
export const nameBeforeIndex = (job: string, group: string): string => `${job}.${group}[`;

/** The index in an allocation's name; -1 when the name has none. */
export function allocationIndex(name: string): number {
  const [, digits] = /\[(\d+)\]$/.exec(name) ?? [];
  return digits === undefined ? -1 : Number(digits);
}

/** Adds an event and keeps the newest `limits.task.eventsKept`. */
export const withTaskEvent = (state: TaskState, event: TaskEvent): TaskState => ({
  ...state,
  Events: [...(state.Events ?? []), event].slice(-limits.task.eventsKept),
});
