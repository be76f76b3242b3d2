import { passedVariables } from '../../model/task/task-variables.ts';

/** Variables of the agent that a task without isolation needs to find its way on the machine. */
const passedNames = new Set(passedVariables);

/** The usual directories of a system's programs. */
export const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * The agent's variables that a task may see. Only listed names pass, so the agent's tokens and
 * other variables of an operator never reach a task.
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
