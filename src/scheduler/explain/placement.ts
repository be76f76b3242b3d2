/**
 * Why a placement went where it went: the decision is made again on the state that it was made on,
 * up to the moment of the placement. So what the plan stops, what it placed before and what makes
 * way count just as they did. Source: docs/behaviour/scheduling.md#explanations.
 *
 * 1. The same view, evaluation, instant and attempt give the same plan (`schedule.ts`), so the n-th
 *    placement of the repetition is the n-th of the plan.
 * 2. Of a placement that was free to go anywhere, the chosen node is the first by score; by that of
 *    evictions where others had to make way.
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

/** All that a decision depends on. */
export interface Decision {
  readonly view: ClusterView;
  readonly evaluation: Evaluation;
  readonly nowMs: number;
  readonly attempt: number;
}

/**
 * How the node came to be chosen: by its score; because the disk of the predecessor is there; or
 * because the job wants something on every node, and on each on its own.
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

/** Of the placement at that position in the plan; `undefined` when there is none. */
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

/** Says of a moment whether it is the one that is looked for. */
export interface MomentFilter {
  readonly chosen?: (moment: Moment, slot: number) => boolean;
  readonly failed?: (moment: Moment) => boolean;
}

/** Ends the repetition, with all of it as it is at that moment. */
class Reached extends Error {}

/** The first moment of the decision that the lookout wants; `undefined` when there is none. */
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

/** The whole decision once more; nothing is kept of it. */
export function decideAgain(
  { view, evaluation, nowMs, attempt }: Decision,
  witness: Witness,
): Steps<SchedulerResult> {
  const session = new SchedulerMemory().begin(view);
  const options: ScheduleOptions = { ...{ nowMs, attempt, witness, session }, ids: placeholders() };
  return scheduleSteps(view, evaluation, options);
}

/** Names of records that never come to be. */
function placeholders(): Ids {
  let made = 0;
  return {
    uuid: () => `00000000-0000-4000-8000-${String(++made).padStart(12, '0')}`,
  };
}
