import { type ClientCommand, detach, verbose } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { monitorEvaluation } from '../monitor.ts';
import { resolveAllocation } from '../nouns.ts';
import { allocationArgument } from './argument.ts';

export const allocStop: ClientCommand = {
  words: ['alloc', 'stop'],
  summary: 'Stop an allocation and watch another take its place.',
  definition: {
    arguments: [allocationArgument],
    options: [
      { name: 'no-shutdown-delay', description: 'Ignore the shutdown delays.' },
      {
        name: 'reschedule',
        description: 'Count it as failed, so that its replacement prefers another node.',
      },
      detach,
      verbose,
    ],
    details: 'The scheduler replaces it if the job still needs the allocation.',
  },
  async run(context, [given], options) {
    const id = await resolveAllocation(context, given!);
    const { value } = await context.client.allocations.stop(id, {
      noShutdownDelay: options.flag('noShutdownDelay'),
      reschedule: options.flag('reschedule'),
    });
    const log = context.isJson ? context.notes : context.screen;
    await log.line(`Allocation ${context.id(id)} is being stopped.`);
    let exitCode: number = exitCodes.ok;
    if (value.EvalID !== '' && !options.flag('detach')) {
      const outcome = await context.untilInterrupted((signal) =>
        monitorEvaluation(context, value.EvalID, log, signal),
      );
      exitCode = outcome.exitCode;
    }
    if (context.isJson) await context.json(value);
    return exitCode;
  },
};
