/**
 * Carries out a plan that was shown before: the registration and everything that the plan does are
 * one transaction. Source: docs/behaviour/jobs.md#plans.
 *
 * 1. The decision is made again on the newest state, in slices, with the ids that the plan drew. The
 *    job, its index and the decision have to be the same; otherwise all differences are reported.
 * 2. The transaction checks the decision against the state once more: the job, its allocations and
 *    its deployment have not changed, no worker is deciding about the job, and everything fits on
 *    every node. Otherwise it leaves no trace, and the decision is made again.
 * 3. The evaluation is complete as soon as it exists, so no worker looks at it.
 * 4. The transaction notes in the plan's row that the plan was carried out (`kept.ts`, K1).
 */
import { assert } from '../../../base/assert.ts';
import { type Fault, invalid } from '../../../model/errors.ts';
import type { Job } from '../../../model/job/job.ts';
import { isEvaluated } from '../../../model/job/job-rules.ts';
import { changedValues } from '../../../model/job-diff/changed-values.ts';
import { compareJobs } from '../../../model/job-diff/compare-jobs.ts';
import { limits } from '../../../model/limits.ts';
import { quote } from '../../../model/path.ts';
import { outlineDifferences } from '../../../model/plan/outline.ts';
import { isSame } from '../../../model/same.ts';
import type { SchedulerConfiguration, SchedulerResult } from '../../../scheduler/view.ts';
import { allocations, evaluations, inNamespace } from '../../../state/tables.ts';
import type { Snapshot, Transaction } from '../../../state/types.ts';
import type { ServerContext } from '../../context.ts';
import { commitDecision } from '../../scheduling/evaluations/commit.ts';
import type { Decisions } from '../../scheduling/evaluations/decisions.ts';
import type { EvaluationDispatcher } from '../../scheduling/evaluations/dispatcher.ts';
import type { SlicedQueue } from '../../sliced-queue.ts';
import {
  type Admitted,
  type Evaluate,
  type Registered,
  type Registration,
  registerAdmitted,
} from '../register.ts';
import {
  isShown,
  notePlanCarriedOut,
  notePlanOutdated,
  openPlanned,
  type Planned,
  requirePlan,
  type WantedPlan,
} from './kept.ts';
import {
  decideProposal,
  outlineIn,
  type Proposal,
  type ProposalDecision,
  propose,
  replayed,
} from './proposal.ts';

export interface CarryingOut {
  readonly context: ServerContext;
  readonly dispatcher: EvaluationDispatcher;
  readonly decisions: Decisions;
  /** The scheduler configuration for a node pool. */
  readonly configuration: (snapshot: Snapshot, pool: string) => SchedulerConfiguration;
  readonly queue: SlicedQueue;
}

/** The decision on the newest state, and its differences from the plan. */
interface Again {
  readonly proposal: Proposal;
  readonly decided: ProposalDecision | undefined;
  readonly differences: readonly string[];
  /** Whether the state has moved. The job that was sent may be another one, too. */
  readonly hasMoved: boolean;
}

/** The state changed between the decision and the transaction. */
export class Moved extends Error {}

/**
 * @throws RosterError as `registerJob`, `plan-not-found`, and `plan-outdated` with all differences
 * that the caller may know
 */
export async function carryOut(
  tools: CarryingOut,
  registration: Registration,
  admitted: Admitted,
  wanted: WantedPlan,
): Promise<Registered> {
  const { clock } = tools.context.world;
  let reason = '';
  for (let attempt = 1; attempt <= limits.plan.attemptsMax; attempt++) {
    const again = await decideAgain(tools, registration, admitted.job, wanted);
    if (again.differences.length > 0) {
      const { Namespace, ID: JobID } = admitted.job;
      if (again.hasMoved)
        await notePlanOutdated(tools.context, { Namespace, JobID, ID: wanted.id });
      throw outdated(again.differences);
    }
    const commit = commitWith(tools, again);
    const carry: Evaluate = (transaction, stored, existing) => {
      const kept = requirePlan(transaction, stored, wanted, clock.nowMs());
      const evaluation = commit(transaction, stored, existing);
      notePlanCarriedOut(transaction, kept, wanted.caller);
      return evaluation;
    };
    try {
      const registered = await registerAdmitted(tools.context, registration, admitted, carry);
      const { decided } = again;
      if (decided !== undefined) {
        tools.decisions.note({ ...decided, attempt: 1 }, decided.result.plan);
      }
      return registered;
    } catch (error) {
      if (!(error instanceof Moved)) throw error;
      reason = error.message;
    }
  }
  throw outdated([reason]);
}

export function outdated(differences: readonly string[]) {
  const faults = differences
    .slice(0, limits.fault.listedMax)
    .map((sentence): Fault => ({ pointer: '', message: `${sentence}.` }));
  return invalid('plan-outdated', faults);
}

const hidden =
  'the plan was another one; only its maker, and callers that may read the job, are told what has changed';

async function decideAgain(
  { context, configuration, queue }: CarryingOut,
  { accessor, evaluationPriority: priority, ...preserved }: Registration,
  job: Job,
  wanted: WantedPlan,
): Promise<Again> {
  const { state, world, box } = context;
  return queue.finish(function* (elapsedNs) {
    const snapshot = state.head();
    const kept = requirePlan(snapshot, job, wanted, world.clock.nowMs());
    const planned = openPlanned(box, kept);
    yield;
    const submitted = { ...job, SchedulerTokenID: accessor };
    const proposal = propose(snapshot, submitted, preserved);
    const decided = isEvaluated(proposal.job)
      ? yield* decideProposal(snapshot, proposal, {
          configuration: configuration(snapshot, job.NodePool),
          nowMs: world.clock.nowMs(),
          ids: replayed(planned.ids, world.ids),
          priority,
          elapsedNs,
        })
      : undefined;
    yield;
    const ofJob = jobDifferences(planned.job, job);
    const differences = [
      ...ofJob,
      ...indexDifference(planned, proposal),
      ...outlineDifferences(planned.outline, outlineIn(snapshot, decided)),
    ];
    const isTold = differences.length === 0 || isShown(kept, wanted);
    const hasMoved = ofJob.length === 0;
    return { proposal, decided, hasMoved, differences: isTold ? differences : [hidden] };
  });
}

function jobDifferences(planned: Job, submitted: Job): readonly string[] {
  if (isSame(planned, submitted)) return [];
  const changes = changedValues(compareJobs(planned, submitted));
  if (changes.length === 0)
    return ['the job is not the one that was planned: a list is in another order'];
  return changes.map(
    ({ path, old, next }) =>
      `${path} of the job was ${quote(old)} in the plan, and is ${quote(next)}`,
  );
}

function indexDifference({ jobModifyIndex }: Planned, { stored }: Proposal): readonly string[] {
  const now = stored?.JobModifyIndex ?? 0;
  if (now === jobModifyIndex) return [];
  return [`the plan was made for JobModifyIndex ${jobModifyIndex}, and the job has ${now} now`];
}

/** Applies the decision within the registration's transaction. */
const commitWith =
  ({ context, dispatcher }: CarryingOut, { proposal, decided }: Again): Evaluate =>
  (transaction, stored, existing) => {
    const isAsItWas =
      existing?.JobModifyIndex === proposal.stored?.JobModifyIndex &&
      existing?.CreateIndex === proposal.stored?.CreateIndex;
    if (!isAsItWas) throw new Moved('the job has changed just now');
    if (decided === undefined) return undefined;
    const { evaluation, result } = decided;
    // A decision under way about an older version will be refused as stale, but one about this
    // version would be applied.
    if (stored === existing && dispatcher.broker.isBusyWith(evaluation)) {
      throw new Moved('the scheduler is deciding about the job just now');
    }
    if (haveAllocationsMoved(transaction, decided)) {
      throw new Moved('allocations of the job have changed just now');
    }
    const { JobModifyIndex, Namespace } = stored;
    const open = transaction.table(evaluations).put({ ...evaluation, JobModifyIndex });
    const refusals = commitDecision(
      transaction,
      context,
      open,
      based(result, proposal.job, stored),
    );
    if (refusals !== 'unchanged' && refusals.length > 0) {
      throw new Moved(refusals[0]!.reason);
    }
    return transaction.table(evaluations).get(...inNamespace(Namespace, open.ID));
  };

function haveAllocationsMoved(
  transaction: Transaction,
  { view, evaluation: { Namespace, JobID } }: ProposalDecision,
): boolean {
  const prefix = inNamespace(Namespace, JobID);
  return transaction.table(allocations).by('job').lastIndex({ prefix }) > view.index;
}

/** The decision about `proposed`, with the indexes that the stored job got. */
export function based(result: SchedulerResult, proposed: Job, stored: Job): SchedulerResult {
  assert(proposed.Version === stored.Version, 'the job was registered as it was proposed');
  const { plan } = result;
  const { CreateIndex: JobCreateIndex, JobModifyIndex, ModifyIndex } = stored;
  const moved = <A extends { readonly JobCreateIndex: number }>(one: A): A =>
    one.JobCreateIndex === proposed.CreateIndex ? { ...one, JobCreateIndex } : one;
  return {
    ...result,
    plan: {
      ...plan,
      allAtOnce: true,
      jobModifyIndex: JobModifyIndex,
      placements: plan.placements.map(moved),
      inPlaceUpdates: plan.inPlaceUpdates.map(moved),
      deployment: plan.deployment && {
        ...plan.deployment,
        JobCreateIndex,
        JobModifyIndex: ModifyIndex,
        JobSpecModifyIndex: JobModifyIndex,
      },
      evaluations: plan.evaluations.map((one) => ({ ...one, JobModifyIndex })),
    },
  };
}
