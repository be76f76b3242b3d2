import type { AllocationStub } from '../../model/allocation/allocation-stub.ts';
import { limits } from '../../model/limits.ts';
import { isMissing, type ReadOptions, waitFor } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, detach, verbose } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { waitForEvaluation } from '../monitor.ts';
import { withJob } from '../nouns.ts';
import type { Screen } from '../render/screen.ts';
import { byName, oneLine } from '../render/text.ts';
import { wholeNumber } from '../whole-number.ts';
import { jobArgument } from './argument.ts';

export const jobStop: ClientCommand = {
  words: ['job', 'stop'],
  summary: 'Stop a job and watch it end.',
  definition: {
    confirms: ([job], options) =>
      options.flag('purge') ? `Stop the job "${job}" and delete it with its versions?` : undefined,
    arguments: [jobArgument],
    options: [
      { name: 'purge', description: 'Delete the job at once, with all its versions.' },
      { name: 'no-shutdown-delay', description: 'Ignore the shutdown delays of its groups.' },
      {
        name: 'eval-priority',
        value: 'N',
        description:
          "Priority of the evaluation that ends it, from 1 to 100; the job's without it.",
      },
      {
        name: 'global',
        description: 'Stop it in all regions; has no effect on a job in a single region.',
      },
      detach,
      verbose,
    ],
    details: 'A stopped job is kept for a while: "roster job start" starts it again.',
  },
  async run(context, [job], options) {
    const purge = options.flag('purge');
    const noShutdownDelay = options.flag('noShutdownDelay');
    const { client } = context;
    const priority = options.text('evalPriority');
    const bounds = { least: limits.job.priorityMin, most: limits.job.priorityMax };
    const evalPriority =
      priority === undefined ? undefined : wholeNumber('--eval-priority', priority, bounds);
    const global = options.flag('global');
    const { value: stopped } = await withJob(context, job!, () =>
      client.jobs.stop(job!, { purge, noShutdownDelay, evalPriority, global }),
    );
    const log = context.isJson ? context.notes : context.screen;
    await log.line(`Job "${oneLine(job!)}" is being ${purge ? 'purged' : 'stopped'}.`);
    if (stopped.EvalID !== '' && !options.flag('detach')) {
      try {
        await context.untilInterrupted((signal) =>
          watchEnd(context, { job: job!, purge, evaluationId: stopped.EvalID }, log, signal),
        );
      } catch (error) {
        await context.notes.line('No longer watching; the job still ends.');
        throw error;
      }
    }
    if (context.isJson) await context.json(stopped);
    return exitCodes.ok;
  },
};

interface Ending {
  readonly job: string;
  readonly purge: boolean;
  readonly evaluationId: string;
}

const isLeft = (status: string): boolean => status === 'pending' || status === 'running';

async function watchEnd(
  context: Context,
  { job, purge, evaluationId }: Ending,
  log: Screen,
  signal: AbortSignal,
): Promise<void> {
  const { client, id } = context;
  // A purged job has no list of allocations, but the allocations exist until they are collected.
  const filter = `JobID == ${JSON.stringify(job)}`;
  const read = (options: ReadOptions) =>
    purge
      ? client.allocations.list({ ...options, filter, taskStates: false })
      : client.jobs.allocations(job, { ...options, all: true });
  await waitForEvaluation(context, evaluationId, log, signal).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
  let left: Set<string> | undefined;
  const isOver = (allocations: readonly AllocationStub[]): boolean => {
    const running = allocations.filter(({ ClientStatus }) => isLeft(ClientStatus));
    // Later allocations belong to a new job with the same id.
    left ??= new Set(running.map(({ ID }) => ID));
    for (const { ID, Name, ClientStatus } of [...allocations].sort(byName)) {
      if (isLeft(ClientStatus) || !left.delete(ID)) continue;
      void log.line(`  ${oneLine(Name)}  ${id(ID)}  ${log.status(ClientStatus)}`);
    }
    return running.every(({ ID }) => left?.has(ID) !== true);
  };
  try {
    await waitFor(read, isOver, { signal });
  } catch (error) {
    if (purge || !isMissing(error)) throw error;
    // The job was purged meanwhile.
    return watchEnd(context, { job, purge: true, evaluationId }, log, signal);
  }
  await log.line('Nothing of it runs any more.');
}
