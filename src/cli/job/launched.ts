import type { Context } from '../context.ts';
import { exitCodes } from '../errors.ts';
import { monitorEvaluation } from '../monitor.ts';
import { quoted } from '../render/text.ts';

/** Watches a launched child until it runs, unless there is nothing to watch. */
export async function watchLaunch(
  context: Context,
  launched: { readonly EvalID: string },
  isDetached: boolean,
): Promise<number> {
  const { EvalID } = launched;
  if (isDetached || EvalID === '') {
    if (context.isJson) await context.json(launched);
    else if (EvalID !== '') {
      const id = context.id(EvalID);
      await context.screen.line(`Evaluation ${id} is under way: see "roster eval status ${id}".`);
    }
    return exitCodes.ok;
  }
  const log = context.isJson ? context.notes : context.screen;
  try {
    const { exitCode, evaluation, allocations } = await context.untilInterrupted((signal) =>
      monitorEvaluation(context, EvalID, log, signal),
    );
    if (context.isJson) {
      await context.json({ ...launched, Evaluation: evaluation, Allocations: allocations });
    } else await log.line(`See "roster job status ${quoted(evaluation.JobID)}".`);
    return exitCode;
  } catch (error) {
    await context.notes.line('No longer watching; the job goes on.');
    throw error;
  }
}
