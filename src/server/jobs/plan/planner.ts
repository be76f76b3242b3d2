import { formatInstant, noInstant } from '../../../base/instant.ts';
import type { Steps } from '../../../base/steps.ts';
import { allocationStub } from '../../../model/allocation/allocation-stub.ts';
import { refusal } from '../../../model/errors.ts';
import { presentEvaluation } from '../../../model/evaluation/present.ts';
import type { Job } from '../../../model/job/job.ts';
import { refusedChange } from '../../../model/job/job-change.ts';
import { isEvaluated } from '../../../model/job/job-rules.ts';
import { nextLaunch } from '../../../model/job/periodic-launch.ts';
import { warningsText } from '../../../model/job/warnings.ts';
import { annotated } from '../../../model/job-diff/annotate.ts';
import { compareJobsSteps } from '../../../model/job-diff/compare-jobs.ts';
import type { JobDiff } from '../../../model/job-diff/job-diff.ts';
import type { JobPlan } from '../../../model/job-plan/job-plan.ts';
import { type KeptPlan, ofRegistration } from '../../../model/kept-plan/kept-plan.ts';
import { limits } from '../../../model/limits.ts';
import type { Outline } from '../../../model/plan/outline.ts';
import { FormUnfinished } from '../../../state/errors.ts';
import { allocations, inNamespace, jobs } from '../../../state/tables.ts';
import type { Snapshot } from '../../../state/types.ts';
import { requireJobPolicies } from '../../job-policies/check.ts';
import { requireCapabilities } from '../../namespaces/capabilities.ts';
import { requireNamespace } from '../../namespaces/find.ts';
import { requireNodePool } from '../../node-pools/pools.ts';
import { placementReason } from '../../plans/why.ts';
import { type ElapsedNs, SlicedQueue } from '../../sliced-queue.ts';
import { driverWarnings } from '../driver-warnings.ts';
import {
  type Admitted,
  admitSteps,
  type Finish,
  type Registered,
  type Registration,
  requireId,
} from '../register.ts';
import { type CarryingOut, carryOut } from './carry-out.ts';
import {
  keepPlan,
  openPlanned,
  type Planned,
  type PlannedRequest,
  type PlannedShown,
  plannedText,
  type WantedPlan,
} from './kept.ts';
import {
  decideProposal,
  outlineIn,
  type Proposal,
  type ProposalDecision,
  propose,
  recorded,
} from './proposal.ts';

export interface PlanRequest
  extends Pick<
    Registration,
    | ('job' | 'namespace' | 'jobId' | 'accessor' | 'unknownFields')
    | ('preserveCounts' | 'preserveResources' | 'policyOverride' | 'faults')
  > {
  /** Whether to compare the job with the stored one. */
  readonly diff: boolean;
  /** Whether to keep the plan, so that it can be carried out. */
  readonly keep: boolean;
  /** The caller that asks for the plan. */
  readonly caller: string;
  /** Whether the caller may read allocations of a namespace. */
  readonly mayRead: (namespace: string) => boolean;
  /** The source of the job, for a plan that is carried out by its id. */
  readonly submission?: Registration['submission'];
}

/** The plan, and the index of the state that it was made on. */
export interface PlannedJob {
  readonly index: number;
  readonly plan: JobPlan;
  /** The content of the plan, whether it is kept or not. */
  readonly planned: Planned;
}

export type PlannerOptions = Omit<CarryingOut, 'queue'>;

/**
 * Shows what registering a job would do, and registers a job on condition that exactly this is
 * done.
 *
 * Invariants
 *  P1. A plan is the scheduler's own decision about the job as it would be stored. It writes nothing but
 *      itself, and that only if it is to be kept.
 *  P2. A plan is carried out exactly as it was shown, ids included, in one transaction with the
 *      registration; or nothing is registered (`carry-out.ts`).
 */
export class Planner {
  readonly #options: PlannerOptions;
  readonly #queue: SlicedQueue;

  constructor(options: PlannerOptions) {
    this.#options = options;
    const { world } = options.context;
    this.#queue = new SlicedQueue(world, {
      sizeMax: limits.plan.waitingMax,
      full: (limit) => refusal('too-many-plans', { limit }),
    });
  }

  /**
   * Source: docs/contract/jobs.md#plan-a-job, docs/behaviour/jobs.md#plans.
   * @throws RosterError `invalid-job`, `job-id-mismatch`, `namespace-not-found`,
   *   `node-pool-not-found`, `job-not-allowed`, `job-policy-violated`, `too-many-plans`
   */
  async plan(request: PlanRequest, finish: Finish): Promise<PlannedJob> {
    const { context } = this.#options;
    const admitted = await finish(admitSteps(request, context));
    requireId(admitted.job, request.jobId);
    const { text, made } = await this.#queue.finish((elapsedNs) =>
      this.#planSteps(request, admitted, elapsedNs),
    );
    if (text === undefined) return made;
    const PlanID = await this.#keepPlan(request, admitted.job, text);
    return { ...made, plan: { ...made.plan, PlanID } };
  }

  /**
   * Registers the job as `registerJob` does and applies the plan, or does nothing.
   * @throws RosterError as `registerJob`, `plan-not-found`, and `plan-outdated` with all
   * differences
   */
  async carryOut(
    registration: Registration,
    wanted: WantedPlan,
    finish: Finish,
  ): Promise<Registered> {
    const { context } = this.#options;
    const admitted = await finish(admitSteps(registration, context));
    requireId(admitted.job, registration.jobId);
    const tools: CarryingOut = { ...this.#options, queue: this.#queue };
    return carryOut(tools, registration, admitted, wanted);
  }

  /**
   * Registers the job that is kept with the plan, and applies the plan, or does nothing.
   * @throws RosterError as `carryOut`
   */
  carryOutKept(kept: KeptPlan, wanted: WantedPlan, accessor: string): Promise<Registered> {
    const { job, request } = openPlanned(this.#options.context.box, kept);
    const registration: Registration = {
      job,
      namespace: kept.Namespace,
      jobId: kept.JobID,
      submission: request?.submission ?? undefined,
      enforceIndex: undefined,
      evaluationPriority: 0,
      preserveCounts: request?.preserveCounts ?? false,
      preserveResources: request?.preserveResources ?? false,
      policyOverride: request?.policyOverride ?? false,
      accessor,
      unknownFields: [],
    };
    const tools: CarryingOut = { ...this.#options, queue: this.#queue };
    return carryOut(tools, registration, { job, warnings: [] }, wanted);
  }

  *#planSteps(
    request: PlanRequest,
    { job, warnings: known }: Admitted,
    elapsedNs: ElapsedNs,
  ): Steps<{ readonly made: PlannedJob; readonly text: string | undefined }> {
    const { context, configuration } = this.#options;
    const { clock, ids } = context.world;
    const snapshot = context.state.read();
    requireNamespace(snapshot, job.Namespace);
    requireNodePool(snapshot, job.NodePool);
    const submitted = { ...job, SchedulerTokenID: request.accessor };
    const proposal = propose(snapshot, submitted, request);
    requireCapabilities(snapshot, proposal.job);
    const advice = requireJobPolicies(snapshot, proposal.job, { override: request.policyOverride });
    const drawn = recorded(ids);
    const decided = isEvaluated(proposal.job)
      ? yield* decideProposal(snapshot, proposal, {
          configuration: configuration(snapshot, job.NodePool),
          nowMs: clock.nowMs(),
          ids: drawn,
          priority: 0,
          elapsedNs,
        })
      : undefined;
    yield;
    const outline = outlineIn(snapshot, decided);
    const warnings = [
      ...warningsFor(known, proposal, outline),
      ...driverWarnings(snapshot, proposal.job),
      ...advice,
    ];
    yield;
    const Diff = request.diff ? yield* diffOf(proposal, decided) : null;
    const launchMs = nextLaunch(proposal.job, clock.nowMs());
    const plan: JobPlan = {
      PlanID: '',
      ...present(snapshot, request, outline, decided),
      Diff,
      JobModifyIndex: proposal.stored?.JobModifyIndex ?? 0,
      Index: proposal.stored?.JobModifyIndex ?? 0,
      NextPeriodicLaunch: launchMs === undefined ? noInstant : formatInstant(launchMs),
      Warnings: warningsText(warnings),
    };
    const { JobModifyIndex: jobModifyIndex } = plan;
    const shown = shownOf(snapshot, plan, { outline, warnings, decided });
    const content = { job, jobModifyIndex, outline, ids: drawn.drawn };
    const planned: Planned = { ...content, request: requestOf(request), shown };
    const made = { index: snapshot.index, plan, planned };
    if (!this.#isKept(request, outline)) return { made, text: undefined };
    yield;
    return { made, text: plannedText(planned) };
  }

  #isKept({ keep }: PlanRequest, outline: Outline): boolean {
    return keep && !isTooLarge(outline) && !this.#options.context.state.isFull;
  }

  /** Returns the id by which the plan can be carried out; `''` while some server does not know such rows. */
  async #keepPlan({ caller }: PlanRequest, job: Job, planned: string): Promise<string> {
    const { state, world, box } = this.#options.context;
    const [ID, nowMs] = [world.ids.uuid(), world.clock.nowMs()];
    try {
      await state.write((transaction) => {
        const { Namespace, ID: JobID } = job;
        const Sealed = box.seal(planned);
        const about = { ...ofRegistration, Namespace, JobID };
        keepPlan(transaction, { ID, ...about, MadeBy: caller, Sealed, Packed: true }, nowMs);
      });
    } catch (error) {
      if (error instanceof FormUnfinished) return '';
      throw error;
    }
    return ID;
  }
}

const isTooLarge = ({ changes }: Outline): boolean => changes.length > limits.plan.exactChangesMax;

function warningsFor(
  known: readonly string[],
  { job, stored }: Proposal,
  outline: Outline,
): string[] {
  const reason = refusedChange(stored, job);
  const { exactChangesMax } = limits.plan;
  return [
    ...(reason === undefined ? [] : [`registering the job would be refused: ${reason}`]),
    ...known,
    ...(isTooLarge(outline)
      ? [
          `the plan has ${outline.changes.length} changes: one of more than ${exactChangesMax} is shown, but cannot be carried out by its id`,
        ]
      : []),
  ];
}

const requestOf = ({
  submission,
  preserveCounts,
  preserveResources,
  policyOverride,
}: PlanRequest): PlannedRequest => ({
  submission: submission ?? null,
  preserveCounts,
  preserveResources,
  policyOverride,
});

interface Making {
  readonly outline: Outline;
  readonly warnings: readonly string[];
  readonly decided: ProposalDecision | undefined;
}

function shownOf(
  { index: Index }: Snapshot,
  { Diff, FailedTGAllocs, Annotations: { DesiredTGUpdates } }: JobPlan,
  { outline, warnings: Warnings, decided }: Making,
): PlannedShown {
  const placements = decided?.result.plan.placements ?? [];
  const metricsOf = new Map(placements.map(({ ID, Metrics }) => [ID, Metrics]));
  const told = outline.changes.map(({ Action, AllocID, NodeID, Description }) =>
    Action === 'place'
      ? ([placementReason(metricsOf.get(AllocID) ?? null, NodeID), AllocID] as const)
      : ([Description] as const),
  );
  return { Index, Diff, DesiredTGUpdates, FailedTGAllocs, Warnings, told };
}

function* diffOf({ job, stored }: Proposal, decided: ProposalDecision | undefined): Steps<JobDiff> {
  const diff = yield* compareJobsSteps(stored, job);
  const updates = decided?.result.plan.annotations ?? {};
  return annotated(diff, { old: stored, next: job, updates });
}

function present(
  snapshot: Snapshot,
  { mayRead }: PlanRequest,
  { changes }: Outline,
  decided: ProposalDecision | undefined,
): Pick<JobPlan, 'Annotations' | 'FailedTGAllocs' | 'CreatedEvals' | 'Changes' | 'ChangesHidden'> {
  const plan = decided?.result.plan;
  const Changes = changes
    .filter(({ Action, Namespace }) => Action !== 'evict' || mayRead(Namespace))
    .slice(0, limits.plan.shownMax);
  const made = (plan?.evaluations ?? []).map((one) =>
    presentEvaluation({ ...one, CreateIndex: 0, ModifyIndex: 0 }),
  );
  return {
    Annotations: {
      DesiredTGUpdates: plan?.annotations ?? {},
      PreemptedAllocs: preempted(snapshot, Changes),
    },
    FailedTGAllocs: decided?.result.outcome.failures ?? null,
    CreatedEvals: made.length === 0 ? null : made,
    Changes,
    ChangesHidden: changes.length - Changes.length,
  };
}

function preempted(
  snapshot: Snapshot,
  changes: Outline['changes'],
): JobPlan['Annotations']['PreemptedAllocs'] {
  const stubs = changes
    .filter(({ Action }) => Action === 'evict')
    .flatMap(({ Namespace, AllocID, JobID }) => {
      const one = snapshot.table(allocations).get(...inNamespace(Namespace, AllocID));
      const job = snapshot.table(jobs).get(...inNamespace(Namespace, JobID));
      return one === undefined ? [] : [allocationStub(one, job?.Type ?? '')];
    });
  return stubs.length === 0 ? null : stubs;
}
