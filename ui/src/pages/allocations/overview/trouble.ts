/** The failures of an allocation, in the words of its node. */
import { type TaskEvent, taskNames, type WholeAllocation } from '../allocation.ts';
import { sentenceOf, toneOf } from './time-line.ts';

export interface TaskTrouble {
  readonly task: string;
  /** The latest bad events, the earliest first, each sentence once. */
  readonly sentences: readonly string[];
}

/** How the process of a task ended, and why it is not started again. The unhealthy allocation follows from these. */
function sentencesOf(events: readonly TaskEvent[]): readonly string[] {
  const bad = events.filter((event) => toneOf(event) === 'bad' && event.Type !== 'Alloc Unhealthy');
  const end = bad.findLast(({ Type }) => Type === 'Terminated');
  const reason = bad.findLast(({ Type }) => Type !== 'Terminated');
  return [end, reason].flatMap((event) =>
    event === undefined ? [] : [sentenceOf(event) || event.Type],
  );
}

/** Tasks that have failed; of a task that runs again, the past is in its events. */
export function troubleOf(allocation: WholeAllocation): readonly TaskTrouble[] {
  return taskNames(allocation).flatMap((task) => {
    const state = allocation.TaskStates[task];
    if (state === undefined || !state.Failed || state.State !== 'dead') return [];
    return [{ task, sentences: sentencesOf(state.Events ?? []) }];
  });
}

const troubled: readonly string[] = ['failed', 'lost', 'unknown'];

export const isTroubled = (allocation: WholeAllocation): boolean =>
  troubled.includes(allocation.ClientStatus) ||
  allocation.DeploymentStatus?.Healthy === false ||
  troubleOf(allocation).length > 0;
