import { isMissing, waitFor } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, detach, verbose } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { waitForEvaluation } from '../monitor.ts';
import { withJob } from '../nouns.ts';
import type { Screen } from '../render/screen.ts';
import { byName, oneLine } from '../render/text.ts';

export const jobStop: ClientCommand = {
  definition: {
    arguments: [{ name: 'JOB', kind: 'job', isRequired: true, description: 'Id of the job.' }],
    options: [
      { name: 'purge', description: 'Forget the job at once, with all that is kept of it.' },
      { name: 'no-shutdown-delay', description: 'Ignore the shutdown delays of its groups.' },
      detach,
      verbose,
    ],
    details: `A stopped job is kept for a while: running its file again starts it again.`,
  },
  async run(context, [job], options) {
    const purge = options.flag('purge');
    const noShutdownDelay = options.flag('noShutdownDelay');
    const { client } = context;
    const { value: stopped } = await withJob(context, job!, () =>
      client.jobs.stop(job!, { purge, noShutdownDelay }),
    );
    const log = context.isJson ? context.notes : context.screen;
    await log.line(`Job "${oneLine(job!)}" is being ${purge ? 'purged' : 'stopped'}.`);
    if (stopped.EvalID !== '' && !options.flag('detach')) {
      try {
        await context.untilInterrupted((signal) =>
          watchEnd(context, job!, stopped.EvalID, log, signal),
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

async function watchEnd(
  context: Context,
  job: string,
  evaluationId: string,
  log: Screen,
  signal: AbortSignal,
): Promise<void> {
  const { client, id } = context;
  const told = new Set<string>();
  try {
    await waitForEvaluation(context, evaluationId, log, signal);
    const left = new Set<string>();
    await waitFor(
      (options) => client.jobs.allocations(job, { ...options, all: true }),
      (allocations) => {
        for (const { ID, Name, ClientStatus } of [...allocations].sort(byName)) {
          if (ClientStatus === 'pending' || ClientStatus === 'running') {
            left.add(ID);
          } else if (left.delete(ID) && !told.has(ID)) {
            told.add(ID);
            void log.line(`  ${oneLine(Name)}  ${id(ID)}  ${log.status(ClientStatus)}`);
          }
        }
        return left.size === 0;
      },
      { signal },
    );
  } catch (error) {
    // A purged job takes its allocations and evaluations with it.
    if (!isMissing(error)) throw error;
  }
  await log.line('Nothing of it runs any more.');
}
