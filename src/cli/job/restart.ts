import { durationMs, parseDuration } from '../../base/duration.ts';
import { delay } from '../../base/ports.ts';
import type { AllocationStub } from '../../model/allocation/allocation-stub.ts';
import { watchRestart } from '../alloc/restart.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, verbose } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { monitorEvaluation } from '../monitor.ts';
import { withJob } from '../nouns.ts';
import type { Options } from '../options.ts';
import { byName, oneLine, plural } from '../render/text.ts';
import { wholeNumber } from '../whole-number.ts';
import { jobArgument } from './argument.ts';

export const jobRestart: ClientCommand = {
  words: ['job', 'restart'],
  summary: 'Restart the allocations of a job, batch by batch.',
  definition: {
    arguments: [jobArgument],
    options: [
      { name: 'batch-size', value: 'N', description: 'Number of allocations in a batch (1).' },
      {
        name: 'batch-wait',
        value: 'DURATION',
        description: 'How long to wait between two batches, such as 30s (0s).',
      },
      {
        name: 'group',
        value: 'NAME',
        isRepeatable: true,
        description: 'Only this group; may be repeated.',
      },
      { name: 'task', value: 'NAME', description: 'Only this task of each allocation.' },
      {
        name: 'all-tasks',
        description: 'Begin with the first stage again, including completed tasks.',
      },
      {
        name: 'reschedule',
        description: 'Replace each allocation, instead of restarting it in place.',
      },
      verbose,
    ],
    details: `Running allocations are restarted in place, batch by batch; each batch waits until the previous
batch runs again. Exits with 1 at the first allocation that does not run again.

Example:
  roster job restart -batch-size 2 -batch-wait 30s web`,
  },
  async run(context, [job], options) {
    const wish = wishOf(options);
    const { value } = await withJob(context, job!, () => context.client.jobs.allocations(job!));
    const { groups } = wish;
    const running = value
      .filter((one) => one.ClientStatus === 'running' && one.DesiredStatus === 'run')
      .filter(({ TaskGroup }) => groups.length === 0 || groups.includes(TaskGroup))
      .sort(byName);
    const log = context.isJson ? context.notes : context.screen;
    if (running.length === 0) {
      const which = groups.length === 0 ? '' : ' in these groups';
      throw new CliError(`Nothing of the job "${oneLine(job!)}" runs${which}.`);
    }
    const count = plural(running.length, 'allocation is', 'allocations are');
    await log.line(`${count} being restarted, ${wish.batchSize} at a time.`);
    const exitCode = await context.untilInterrupted((signal) =>
      restartAll(context, running, wish, signal),
    );
    if (context.isJson) await context.json((await context.client.jobs.allocations(job!)).value);
    return exitCode;
  },
};

interface Wish {
  readonly batchSize: number;
  readonly batchWaitMs: number;
  readonly groups: readonly string[];
  readonly task: string | undefined;
  readonly all: boolean;
  readonly isRescheduled: boolean;
}

function wishOf(options: Options): Wish {
  const wait = options.text('batchWait') ?? '0s';
  const batchWaitMs = durationMs(parseDuration(wait) ?? Number.NaN);
  if (!(batchWaitMs >= 0)) {
    throw new CliError(`--batch-wait must be a duration such as 30s, got "${wait}".`);
  }
  const [task, all] = [options.text('task'), options.flag('allTasks')];
  const isRescheduled = options.flag('reschedule');
  if (all && task !== undefined) throw new CliError('-all-tasks restarts all: name no task.');
  if (isRescheduled && (all || task !== undefined)) {
    throw new CliError('-reschedule replaces allocations as a whole: name no tasks.');
  }
  return {
    batchSize: wholeNumber('--batch-size', options.text('batchSize') ?? '1', { least: 1 }),
    batchWaitMs,
    task,
    all,
    isRescheduled,
    groups: options.list('group'),
  };
}

async function restartAll(
  context: Context,
  running: readonly AllocationStub[],
  wish: Wish,
  signal: AbortSignal,
): Promise<number> {
  const { timers } = context.environment;
  for (let start = 0; start < running.length; start += wish.batchSize) {
    if (start > 0 && wish.batchWaitMs > 0) {
      await delay(timers, wish.batchWaitMs, signal);
      signal.throwIfAborted();
    }
    const batch = running.slice(start, start + wish.batchSize);
    const outcomes = await Promise.all(
      batch.map((one) =>
        wish.isRescheduled ? replace(context, one, signal) : restart(context, one, wish),
      ),
    );
    const failed = outcomes.find((exitCode) => exitCode !== exitCodes.ok);
    if (failed !== undefined) return failed;
  }
  return exitCodes.ok;
}

/** Stops an allocation and watches its replacement. */
async function replace(
  context: Context,
  { ID, Name }: AllocationStub,
  signal: AbortSignal,
): Promise<number> {
  const log = context.isJson ? context.notes : context.screen;
  await log.line(`${oneLine(Name)}  ${context.id(ID)}  is being replaced`);
  const { value } = await context.client.allocations.stop(ID);
  const { exitCode } = await monitorEvaluation(context, value.EvalID, log, signal);
  return exitCode;
}

async function restart(
  context: Context,
  { ID, Name }: AllocationStub,
  { task, all }: Wish,
): Promise<number> {
  const log = context.isJson ? context.notes : context.screen;
  const { value: before } = await context.client.allocations.read(ID);
  await context.client.allocations.restart(ID, { task, all });
  await log.line(`${oneLine(Name)}  ${context.id(ID)}  is being restarted`);
  await watchRestart(context, before, task);
  const { value: after } = await context.client.allocations.read(ID);
  return after.ClientStatus === 'running' ? exitCodes.ok : exitCodes.error;
}
