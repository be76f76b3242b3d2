import type { Evaluation } from '../../model/evaluation/evaluation.ts';
import { ApiError } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { placementFailures } from '../placement-failure.ts';
import type { Screen } from './screen.ts';
import { oneLine } from './text.ts';

/** Why no node takes more of a group, by the group's name. */
type Reasons = ReadonlyMap<string, string>;

/** Prints why allocations could not be placed. */
export async function printPlacementFailures(
  screen: Screen,
  failed: Evaluation['FailedTGAllocs'],
  reasons: Reasons = new Map(),
): Promise<void> {
  for (const { group, head, reasons: counted } of placementFailures(failed)) {
    await screen.line(screen.colors.red(head));
    for (const reason of counted) await screen.line(`  - ${reason}`);
    const now = reasons.get(group) ?? '';
    if (now !== '') await screen.line(`  ${oneLine(now)}`);
  }
}

/** The same with how much is asked for and how much there is, and where to learn more. */
export async function explainPlacementFailures(
  { client }: Context,
  screen: Screen,
  { JobID, Namespace, FailedTGAllocs }: Evaluation,
  signal: AbortSignal,
): Promise<void> {
  const call = { namespace: Namespace, signal };
  const told = await client.explanations.whyNot(JobID, call).catch((error: unknown) => {
    // What was recorded is told in any case.
    if (error instanceof ApiError) return undefined;
    throw error;
  });
  const groups = told?.value.Groups ?? [];
  const reasons = new Map(groups.map(({ TaskGroup, Reason }) => [TaskGroup, Reason]));
  await printPlacementFailures(screen, FailedTGAllocs, reasons);
  if (told === undefined) return;
  await screen.line(`"roster job why-not ${oneLine(JobID)}" tells of every node.`);
}
