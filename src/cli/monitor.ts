import type { AllocationStub } from '../model/allocation/allocation-stub.ts';
import type { PresentedEvaluation } from '../model/evaluation/present.ts';
import { waitFor, watch } from '../sdk/client.ts';
import type { Context } from './context.ts';
import { exitCodes } from './errors.ts';
import { explainPlacementFailures } from './render/placement.ts';
import type { Screen } from './render/screen.ts';
import { byName, oneLine, plural } from './render/text.ts';
import { StartsTeller } from './starts.ts';

export interface Outcome {
  readonly exitCode: number;
  /** Every allocation was placed. */
  readonly isPlaced: boolean;
  readonly evaluation: PresentedEvaluation;
  readonly allocations: readonly AllocationStub[];
}

/**
 * Watches an evaluation until the scheduler has completed it and all its allocations run or have
 * ended. `screen` gets a line for each step.
 */
export async function monitorEvaluation(
  context: Context,
  evaluationId: string,
  screen: Screen,
  signal: AbortSignal,
): Promise<Outcome> {
  const evaluation = await waitForEvaluation(context, evaluationId, screen, signal);
  if (evaluation.Status === 'failed' || evaluation.Status === 'canceled') {
    const reason = evaluation.StatusDescription;
    const text = `Evaluation ${context.id(evaluation.ID)} is ${evaluation.Status}`;
    await screen.line(reason === '' ? `${text}.` : `${text}: ${oneLine(reason)}.`);
    return { exitCode: exitCodes.error, isPlaced: false, evaluation, allocations: [] };
  }
  const isPlaced = Object.keys(evaluation.FailedTGAllocs ?? {}).length === 0;
  if (!isPlaced) {
    await explainPlacementFailures(context, screen, evaluation, signal);
    if (evaluation.BlockedEval) {
      const blocked = context.id(evaluation.BlockedEval);
      await screen.line(`Evaluation ${blocked} waits for room and places them then.`);
    }
  }
  const allocations = await watchStarts(context, evaluation, screen, signal);
  const isStarted = allocations.every(({ ClientStatus }) => !isBad(ClientStatus));
  const exitCode = isPlaced && isStarted ? exitCodes.ok : exitCodes.placementFailed;
  return { exitCode, isPlaced, evaluation, allocations };
}

/** The evaluation after the scheduler has decided. */
export async function waitForEvaluation(
  context: Context,
  id: string,
  screen: Screen,
  signal: AbortSignal,
): Promise<PresentedEvaluation> {
  let known = '';
  const isDecided = ({ Status, StatusDescription, TriggeredBy }: PresentedEvaluation): boolean => {
    if (Status !== 'pending') return true;
    if (known === '') {
      known = 'pending';
      const about = StatusDescription === '' ? '' : `: ${oneLine(StatusDescription)}`;
      void screen.line(`Evaluation ${context.id(id)} (${TriggeredBy}) is pending${about}`);
    }
    return false;
  };
  return waitFor((options) => context.client.evaluations.read(id, options), isDecided, { signal });
}

const isBad = (status: string): boolean => status === 'failed' || status === 'lost';

/** Whether the allocation counts as started, or will never start. */
const isSettled = ({ ClientStatus, DesiredStatus }: AllocationStub): boolean =>
  ClientStatus !== 'pending' || DesiredStatus !== 'run';

async function watchStarts(
  context: Context,
  evaluation: PresentedEvaluation,
  screen: Screen,
  signal: AbortSignal,
): Promise<readonly AllocationStub[]> {
  const { client } = context;
  const teller = new StartsTeller(context, screen, signal);
  let isFirst = true;
  const read = (options: object) => client.evaluations.allocations(evaluation.ID, options);
  for await (const all of watch(read, { signal })) {
    const allocations = all.filter(({ DesiredStatus }) => DesiredStatus === 'run').sort(byName);
    if (isFirst) await screen.line(placedSentence(evaluation, allocations));
    isFirst = false;
    await teller.tell(allocations);
    if (!allocations.every(isSettled)) continue;
    await teller.end();
    return allocations;
  }
  return [];
}

function placedSentence(
  evaluation: PresentedEvaluation,
  placed: readonly AllocationStub[],
): string {
  if (placed.length > 0)
    return `${plural(placed.length, 'allocation is', 'allocations are')} placed`;
  const failed = Object.keys(evaluation.FailedTGAllocs ?? {}).length > 0;
  return failed ? 'No allocation is placed.' : 'Nothing had to be changed.';
}
