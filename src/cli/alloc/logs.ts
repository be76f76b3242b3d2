import type { LogOptions } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { CliError, exitCodes, Interrupted } from '../errors.ts';
import { resolveAllocation } from '../nouns.ts';
import type { Options } from '../options.ts';
import { oneLine } from '../render/text.ts';
import { taskNames } from './status.ts';
import { readTail } from './tail.ts';

const linesDefault = 10;

export const allocLogs: ClientCommand = {
  definition: {
    arguments: [
      {
        name: 'ALLOC',
        kind: 'allocation',
        isRequired: true,
        description: 'Id of the allocation, or 8 or more characters of it.',
      },
      {
        name: 'TASK',
        kind: 'word',
        isRequired: false,
        description: 'The task; not needed when there is only one.',
      },
    ],
    options: [
      { name: 'follow', letter: 'f', description: 'Stay and print what is written from now on.' },
      { name: 'tail', description: `Only the last lines (${linesDefault}).` },
      {
        name: 'lines',
        letter: 'n',
        value: 'LINES',
        description: 'How many last lines; means --tail.',
      },
      { name: 'stderr', description: 'What the task wrote to standard error.' },
    ],
    details: `Example:
  roster alloc logs -f -n 20 8e6ec7a1`,
  },
  async run(context, [given, wanted], options) {
    const lines = linesOf(options);
    const allocation = await resolveAllocation(context, given!);
    const task = await taskOf(context, allocation, wanted);
    const type = options.flag('stderr') ? 'stderr' : 'stdout';
    const request = { allocation, task, type } as const;
    return context.untilInterrupted(async (signal) => {
      const isWhole = await printLogs(context, request, lines, options.flag('follow'), signal);
      if (!isWhole) throw new Interrupted();
      return exitCodes.ok;
    });
  },
};

function linesOf(options: Options): number | undefined {
  const text = options.text('lines');
  if (text === undefined) return options.flag('tail') ? linesDefault : undefined;
  if (!/^\d{1,6}$/.test(text)) {
    throw new CliError(`-n must be a number of lines from 0 to 999999, got "${text}".`);
  }
  return Number(text);
}

/** The task that was named, or the only one there is. */
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

/** `false` when nobody wanted to read to the end. */
async function printLogs(
  { client, environment }: Context,
  request: Pick<LogOptions, 'allocation' | 'task' | 'type'>,
  lines: number | undefined,
  follow: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const { stdout } = environment;
  let from: Pick<LogOptions, 'origin' | 'offset'> = { origin: 'start' };
  if (lines !== undefined) {
    const tail = await readTail((offset) => {
      return client.logs.read({ ...request, origin: 'end', offset, signal });
    }, lines);
    if (!follow) {
      await stdout.write(tail);
      return !signal.aborted;
    }
    // What is written between the two requests comes after this many bytes before the end, so
    // that nothing is left out; at most the oldest of the lines are cut.
    from = { origin: 'end', offset: tail.length };
  }
  for await (const piece of client.logs.read({ ...request, ...from, follow, signal })) {
    await stdout.write(piece);
    if (signal.aborted) return false;
  }
  return true;
}
