import { isSame } from '../same.ts';
import type { TaskState } from './task-state.ts';

type TaskStates = Readonly<Record<string, Pick<TaskState, 'Events'>>>;

/**
 * Whether these states of an allocation's tasks were reported before the known states: they tell no event that is not
 * known, and lack the newest event of some task. Events are compared, since the clock of a node may go back.
 */
export function areOlder(states: TaskStates, known: TaskStates): boolean {
  let lacksNewest = false;
  for (const name of new Set([...Object.keys(states), ...Object.keys(known)])) {
    const newest = states[name]?.Events?.at(-1);
    const events = known[name]?.Events ?? [];
    const position = events.findLastIndex((event) => isSame(event, newest));
    if (newest !== undefined && position < 0) return false;
    if (position < events.length - 1) lacksNewest = true;
  }
  return lacksNewest;
}
