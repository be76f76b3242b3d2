/**
 * Explains a placement's choice of node: repeats the decision on the same state, up to the moment of
 * the placement. So stops, earlier placements and evictions count exactly as they did.
 * Source: docs/behaviour/scheduling.md#explanations.
 *
 * 1. The same view, evaluation, instant and attempt give the same plan (`schedule.ts`), so the n-th
 *    placement of the repetition is the n-th of the plan.
 * 2. For a placement that could go to any node, the chosen node is the first by score, or by the
 *    score of evictions where the placement needed them.
 */
import type { Ids } from '../../base/ports.ts';
import type { Steps } from '../../base/steps.ts';
import type { Evaluation } from '../../model/evaluation/evaluation.ts';
import type { Job } from '../../model/job/job.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import type { PlacementRequest } from '../decision.ts';
import { SchedulerMemory } from '../memory/memory.ts';
import type { Moment, Witness } from '../placing/place-group.ts';
import { type ScheduleOptions, scheduleSteps } from '../schedule.ts';
import type { ClusterView, SchedulerResult } from '../view.ts';
import { explainCandidates, type NodeExplanation } from './nodes.ts';

/** The complete input of a decision. */
export interface Decision {
  readonly view: ClusterView;
  readonly evaluation: Evaluation;
  readonly nowMs: number;
  readonly attempt: number;
}

/**
 * The reason for the choice: `best`, the score; `previous-node`, the predecessor's disk; `own-node`,
 * a system job's request for that node.
 */
export type Manner = 'best' | 'previous-node' | 'own-node';

export interface PlacementExplanation {
  /** The version that was placed. */
  readonly job: Job;
  readonly group: TaskGroup;
  readonly manner: Manner;
  readonly chosenId: string;
  readonly nodes: readonly NodeExplanation[];
}

/**
 * Explains the placement at a position in the plan; `undefined`: the plan has no such placement.
 */
export function* explainPlacement(
  decision: Decision,
  position: number,
): Steps<PlacementExplanation | undefined> {
  let before = 0;
  let slot = -1;
  const moment = yield* momentOf(decision, {
    chosen: (_, chosen) => {
      if (before++ < position) return false;
      slot = chosen;
      return true;
    },
  });
  if (moment === undefined) return undefined;
  const { job, candidates, request, penalized, search } = moment;
  const { group } = candidates;
  const chosenId = candidates.nodes[slot]!.ID;
  const manner = mannerOf(request, group, chosenId);
  const nodes = yield* explainCandidates(candidates, penalized, search);
  return { job, group, manner, chosenId, nodes };
}

function mannerOf(
  { nodeId, previous }: PlacementRequest,
  { EphemeralDisk }: TaskGroup,
  chosenId: string,
): Manner {
  if (nodeId !== undefined) return 'own-node';
  const keepsDisk = EphemeralDisk.Sticky || EphemeralDisk.Migrate;
  return keepsDisk && previous?.NodeID === chosenId ? 'previous-node' : 'best';
}

/** Tests whether a moment is the wanted one. */
export interface MomentFilter {
  readonly chosen?: (moment: Moment, slot: number) => boolean;
  readonly failed?: (moment: Moment) => boolean;
}

/** Thrown to end the repetition at the wanted moment. */
class Reached extends Error {}

/** The first moment that passes the filter; `undefined`: no moment does. */
export function* momentOf(
  decision: Decision,
  { chosen, failed }: MomentFilter,
): Steps<Moment | undefined> {
  let found: Moment | undefined;
  const stopAt = (moment: Moment): never => {
    found = moment;
    throw new Reached();
  };
  const witness: Witness = {
    chosen: (moment, slot) => void (chosen?.(moment, slot) && stopAt(moment)),
    failed: (moment) => void (failed?.(moment) && stopAt(moment)),
  };
  try {
    yield* decideAgain(decision, witness);
  } catch (error) {
    if (!(error instanceof Reached)) throw error;
  }
  return found;
}

/** Repeats the whole decision. */
export function decideAgain(
  { view, evaluation, nowMs, attempt }: Decision,
  witness: Witness,
): Steps<SchedulerResult> {
  const session = new SchedulerMemory().begin(view);
  const options: ScheduleOptions = { nowMs, attempt, witness, session, ids: placeholders() };
  return scheduleSteps(view, evaluation, options);
}

/** Ids for records that are never stored. */
function placeholders(): Ids {
  let made = 0;
  return {
    uuid: () => `00000000-0000-4000-8000-${String(++made).padStart(12, '0')}`,
  };
}
