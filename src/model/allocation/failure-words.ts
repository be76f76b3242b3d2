/** Why a task or an allocation fails, in the words of the last events of its tasks. */
import type { Allocation } from './allocation.ts';
import type { TaskEvent, TaskState } from './task-state.ts';

// Pages load this file, so it takes no value from a file with a schema.
const isFailure = ({ Type }: TaskEvent): boolean => /Fail|Terminated/.test(Type);
const isJudgement = ({ Type }: TaskEvent): boolean =>
  Type === 'Not Restarting' || Type === 'Alloc Unhealthy';

const wordsOf = (
  { Events }: Pick<TaskState, 'Events'>,
  isMeant: (event: TaskEvent) => boolean,
): string => {
  const event = (Events ?? []).findLast(
    (one) => isMeant(one) && (one.DisplayMessage || one.Message) !== '',
  );
  return event === undefined ? '' : event.DisplayMessage || event.Message;
};

/**
 * The reasons of an allocation that is not healthy, a sentence for each task that has one: how its last run ended, and
 * otherwise what the node says of its health.
 */
export function failureReasons({
  TaskStates,
  ClientDescription,
}: Pick<Allocation, 'ClientDescription'> & {
  readonly TaskStates: Readonly<Record<string, Pick<TaskState, 'Events'>>> | null;
}): readonly string[] {
  const reasons = Object.entries(TaskStates ?? {}).flatMap(([task, state]) => {
    const words = wordsOf(state, isFailure) || wordsOf(state, isJudgement);
    return words === '' ? [] : [`Task "${task}": ${words}`];
  });
  return reasons.length === 0 && ClientDescription !== '' ? [ClientDescription] : reasons;
}
