import { quote } from '../path.ts';
import { isPathPart, placeNameFaults } from '../text-rules.ts';
import type { Job } from './job.ts';

/**
 * What of the names in a stored job would be refused in a new one, as sentences: a job of that kind
 * goes on and can be stopped, but where a name leads elsewhere no node starts it anew.
 */
export function nameWarnings(job: Job): readonly string[] {
  return job.TaskGroups.flatMap(({ Name, Volumes, Tasks }) => [
    ...warningsOf('group', Name),
    ...Object.keys(Volumes ?? {}).flatMap((name) => warningsOf('volume', name)),
    ...Tasks.flatMap((task) => [
      ...warningsOf('task', task.Name),
      ...(isPathPart(task.Name) ? [] : [`No node starts the task ${quote(task.Name)} anew.`]),
    ]),
  ]);
}

const warningsOf = (noun: string, name: string): readonly string[] =>
  placeNameFaults(name).map((fault) => `The name of the ${noun} ${quote(name)} ${fault}.`);
