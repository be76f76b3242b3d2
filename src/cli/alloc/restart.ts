import type { Allocation } from '../../model/allocation/allocation.ts';
import { waitFor } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, detach, verbose } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { resolveAllocation } from '../nouns.ts';
import { oneLine } from '../render/text.ts';
import { allocationArgument, taskArgument } from './argument.ts';

export const allocRestart: ClientCommand = {
  words: ['alloc', 'restart'],
  summary: 'Restart tasks of an allocation.',
  definition: {
    arguments: [allocationArgument, taskArgument],
    options: [
      {
        name: 'all-tasks',
        description: 'Begin with the first stage again, including completed tasks.',
      },
      detach,
      verbose,
    ],
    details: 'A requested restart does not count against the restart policy.',
  },
  async run(context, [given, task], options) {
    const all = options.flag('allTasks');
    if (all && task !== undefined) throw new CliError('-all-tasks restarts all: name no task.');
    const { client, isJson } = context;
    const id = await resolveAllocation(context, given!);
    const { value: before } = await client.allocations.read(id);
    await client.allocations.restart(id, { task, all });
    const log = isJson ? context.notes : context.screen;
    await log.line(`Allocation ${context.id(id)} is being restarted.`);
    if (!options.flag('detach')) await watchRestart(context, before, task);
    if (isJson) await context.json((await client.allocations.read(id)).value);
    return exitCodes.ok;
  },
};

/** Waits until every running task was restarted and runs again, or has ended. */
export async function watchRestart(
  context: Context,
  before: Allocation,
  task: string | undefined,
): Promise<void> {
  const log = context.isJson ? context.notes : context.screen;
  const names = Object.entries(before.TaskStates)
    .filter(([name, { State }]) => State === 'running' && (task === undefined || task === name))
    .map(([name]) => name);
  const isBack = ({ TaskStates }: Allocation): boolean =>
    names.every((name) => {
      const { State = 'dead', Restarts = 0 } = TaskStates[name] ?? {};
      const restarted = Restarts > (before.TaskStates[name]?.Restarts ?? 0);
      return State === 'dead' || (restarted && State === 'running');
    });
  const after = await context.untilInterrupted((signal) =>
    waitFor((options) => context.client.allocations.read(before.ID, options), isBack, { signal }),
  );
  for (const name of names) {
    const { State = 'dead' } = after.TaskStates[name] ?? {};
    await log.line(`  ${oneLine(name)}  ${log.status(State)}`);
  }
}
