import type { LogOptions } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { CliError, exitCodes, Interrupted } from '../errors.ts';
import { oneLine } from '../render/text.ts';
import { allocationArgument } from './argument.ts';
import { beginOf, type End, endOf, endOptions } from './end-options.ts';
import { jobOption, namedAllocation } from './of-job.ts';
import { printPieces } from './print-pieces.ts';
import { taskNames } from './status.ts';

export const allocLogs: ClientCommand = {
  words: ['alloc', 'logs'],
  summary: 'Print the output of a task, and follow it.',
  definition: {
    arguments: [
      allocationArgument,
      {
        name: 'TASK',
        kind: 'word',
        isRequired: false,
        description: 'The task; optional if there is only one.',
      },
    ],
    options: [
      ...endOptions,
      { name: 'stderr', description: 'Standard error instead of standard output.' },
      { name: 'task', value: 'TASK', description: 'The same as TASK after the allocation.' },
      jobOption,
    ],
    details: `If output was deleted by rotation before it could be read, standard error says so.

Examples:
  roster alloc logs -f -n 20 8e6ec7a1
  roster alloc logs -job -stderr web`,
  },
  async run(context, [given, wanted], options) {
    const end = endOf(options);
    const named = options.text('task');
    if (named !== undefined && wanted !== undefined && named !== wanted) {
      throw new CliError(`-task names "${oneLine(named)}", and TASK "${oneLine(wanted)}".`);
    }
    const allocation = await namedAllocation(context, given!, options);
    const task = await taskOf(context, allocation, wanted ?? named);
    const type = options.flag('stderr') ? 'stderr' : 'stdout';
    const request = { allocation, task, type, follow: options.flag('follow') } as const;
    return context.untilInterrupted(async (signal) => {
      const isWhole = await printLogs(context, request, end, signal);
      if (!isWhole) throw new Interrupted();
      return exitCodes.ok;
    });
  },
};

/** The named task, or the only task of the allocation. */
async function taskOf(
  { client }: Context,
  allocation: string,
  wanted: string | undefined,
): Promise<string> {
  if (wanted !== undefined) return wanted;
  const { value } = await client.allocations.read(allocation);
  const tasks = taskNames(value);
  if (tasks.length === 1) return tasks[0]!;
  const names = tasks.map((task) => `"${oneLine(task)}"`).join(', ');
  throw new CliError(
    tasks.length === 0
      ? `The allocation ${allocation} has no tasks yet.`
      : `The allocation has ${tasks.length} tasks: say which one after its id: ${names}.`,
  );
}

const gap = {
  'file deleted': 'output before this was rotated away before it could be read',
} as const;

/** Resolves with `false` if the output was closed before the end. */
async function printLogs(
  context: Context,
  request: Pick<LogOptions, 'allocation' | 'task' | 'type' | 'follow'>,
  end: End,
  signal: AbortSignal,
): Promise<boolean> {
  const { client, environment } = context;
  const begin = await beginOf(end, request.follow ?? false, (offset) =>
    client.logs.read({ ...request, follow: false, origin: 'end', offset, signal }),
  );
  if (begin instanceof Uint8Array) {
    await environment.stdout.write(begin);
    return !signal.aborted;
  }
  return printPieces(context, client.logs.pieces({ ...request, ...begin, signal }), gap, signal);
}
