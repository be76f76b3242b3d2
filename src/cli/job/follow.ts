import type { JobRegistered } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { exitCodes } from '../errors.ts';
import { oneLine } from '../render/text.ts';
import { watchRun } from './run.ts';

type Written = Omit<JobRegistered, 'Warnings'> & Partial<Pick<JobRegistered, 'Warnings'>>;

/** Prints the outcome of a write of a job and, without `-detach`, watches the evaluation. */
export async function follow(
  context: Context,
  written: Written,
  { sentence, isDetached }: { readonly sentence: string; readonly isDetached: boolean },
): Promise<number> {
  const log = context.isJson ? context.notes : context.screen;
  for (const line of (written.Warnings ?? '').split('\n')) {
    if (line.startsWith('* ')) await log.line(`Warning: ${oneLine(line.slice(2))}`);
  }
  await log.line(sentence);
  if (isDetached || written.EvalID === '') {
    if (context.isJson) await context.json(written);
    return exitCodes.ok;
  }
  try {
    const { exitCode, ...outcome } = await context.untilInterrupted((signal) =>
      watchRun(context, written, log, signal),
    );
    if (context.isJson) await context.json({ ...written, ...outcome });
    return exitCode;
  } catch (error) {
    await context.notes.line('No longer watching; it goes on.');
    throw error;
  }
}
