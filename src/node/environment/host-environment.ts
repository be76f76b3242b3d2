import { passedVariables } from '../../model/task/task-variables.ts';

/** Variables of the agent that a task without isolation needs to find its way on the machine. */
const passedNames = new Set(passedVariables);

/** Where the programs of a system are. */
export const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * What a task may see of the agent's environment. A list of what passes, not of what is held back:
 * the agent's tokens and whatever else an operator gives it never reach a task.
 */
export function hostEnvironment(
  agent: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const passed = Object.entries(agent).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (passedNames.has(entry[0]) || entry[0].startsWith('LC_')),
  );
  return { PATH: usualPath, ...Object.fromEntries(passed) };
}
