import {
  type Drivers,
  driversOf,
  lacksDrivers,
  placementFailures,
} from '../../model/allocation/placement-words.ts';
import type { PresentedEvaluation } from '../../model/evaluation/present.ts';
import { ApiError } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import type { Screen } from './screen.ts';
import { oneLine } from './text.ts';

/** Why no node takes more of a group, by the group's name. */
type Reasons = ReadonlyMap<string, string>;

/** Prints why allocations could not be placed. */
export async function printPlacementFailures(
  screen: Screen,
  failed: PresentedEvaluation['FailedTGAllocs'],
  { drivers, reasons = new Map() }: { drivers?: Drivers; reasons?: Reasons } = {},
): Promise<void> {
  for (const { group, head, reasons: counted } of placementFailures(failed, drivers)) {
    await screen.line(screen.colors.red(head));
    for (const reason of counted) await screen.line(`  - ${reason}`);
    const now = reasons.get(group) ?? '';
    if (now !== '') await screen.line(`  ${oneLine(now)}`);
  }
}

/** The drivers of the job, if they ruled nodes out and the token may read the job. */
export async function driversAsked(
  { client }: Context,
  {
    JobID,
    Namespace,
    FailedTGAllocs,
  }: Pick<PresentedEvaluation, 'JobID' | 'Namespace' | 'FailedTGAllocs'>,
  signal?: AbortSignal,
): Promise<Drivers> {
  if (!lacksDrivers(FailedTGAllocs)) return new Map();
  try {
    const call = { namespace: Namespace, ...(signal && { signal }) };
    return driversOf((await client.jobs.read(JobID, call)).value);
  } catch (error) {
    if (error instanceof ApiError) return new Map();
    throw error;
  }
}

/** The current reasons why no node takes more of the job, if the token may read them. */
async function whyNot(
  { client }: Context,
  { JobID, Namespace }: Pick<PresentedEvaluation, 'JobID' | 'Namespace'>,
  signal?: AbortSignal,
): Promise<Reasons | undefined> {
  try {
    const call = { namespace: Namespace, ...(signal && { signal }) };
    const { value } = await client.explanations.whyNot(JobID, call);
    return new Map(value.Groups.map(({ TaskGroup, Reason }) => [TaskGroup, Reason]));
  } catch (error) {
    // The recorded reasons are printed in any case.
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** The nodes' own reasons for a missing driver that a group waits for. */
export async function reasonsOfDrivers(
  context: Context,
  waiting: PresentedEvaluation,
): Promise<Reasons> {
  const asks = waiting.Status === 'blocked' && lacksDrivers(waiting.FailedTGAllocs);
  return (asks ? await whyNot(context, waiting) : undefined) ?? new Map();
}

/** Prints the failures with the requested and the available amounts, and a command for details. */
export async function explainPlacementFailures(
  context: Context,
  screen: Screen,
  evaluation: PresentedEvaluation,
  signal: AbortSignal,
): Promise<void> {
  const { JobID, FailedTGAllocs } = evaluation;
  const reasons = await whyNot(context, evaluation, signal);
  await printPlacementFailures(screen, FailedTGAllocs, {
    drivers: await driversAsked(context, evaluation, signal),
    ...(reasons && { reasons }),
  });
  if (reasons === undefined) return;
  await screen.line(`"roster job why-not ${oneLine(JobID)}" tells of every node.`);
}
