/** Decides what the scheduler would do if a job were registered, without writing anything. */
import type { Ids } from '../../../base/ports.ts';
import type { Steps } from '../../../base/steps.ts';
import type { Evaluation } from '../../../model/evaluation/evaluation.ts';
import type { Job } from '../../../model/job/job.ts';
import { type Preserved, registeredJob } from '../../../model/job/job-change.ts';
import { nothingPlanned, type Outline, outlineOf } from '../../../model/plan/outline.ts';
import { scheduleSteps } from '../../../scheduler/schedule.ts';
import type {
  ClusterView,
  SchedulerConfiguration,
  SchedulerResult,
} from '../../../scheduler/view.ts';
import { allocations, inNamespace, jobs } from '../../../state/tables.ts';
import type { Snapshot } from '../../../state/types.ts';
import { clusterView } from '../../scheduling/cluster-view.ts';
import { newEvaluation } from '../../scheduling/create-evaluation.ts';

export interface Proposal {
  /** As the next transaction would store it; if nothing changes, the stored job. */
  readonly job: Job;
  readonly stored: Job | undefined;
}

export function propose(snapshot: Snapshot, submitted: Job, preserved: Preserved): Proposal {
  const stored = snapshot.table(jobs).get(...inNamespace(submitted.Namespace, submitted.ID));
  const next = registeredJob(stored, submitted, preserved);
  if (next === stored) return { job: stored, stored };
  const index = snapshot.index + 1;
  const CreateIndex = stored?.CreateIndex ?? index;
  return { job: { ...next, CreateIndex, ModifyIndex: index, JobModifyIndex: index }, stored };
}

export interface ProposalOptions {
  readonly configuration: SchedulerConfiguration;
  readonly nowMs: number;
  readonly ids: Ids;
  /** The priority of the evaluation; 0: that of the job. */
  readonly priority: number;
  readonly elapsedNs: () => number;
}

/** The decision, with the evaluation and the state that it is about. */
export interface ProposalDecision {
  readonly view: ClusterView;
  readonly evaluation: Evaluation;
  readonly nowMs: number;
  readonly result: SchedulerResult;
}

/** The scheduler's own decision. The first id drawn is that of the evaluation. */
export function* decideProposal(
  snapshot: Snapshot,
  { job }: Proposal,
  { configuration, nowMs, ids, priority, elapsedNs }: ProposalOptions,
): Steps<ProposalDecision> {
  const clock = { nowMs: () => nowMs, monotonicMs: () => 0 };
  const unwritten = newEvaluation({ clock, ids }, { job, triggeredBy: 'job-register', priority });
  const evaluation = { ...unwritten, CreateIndex: 0, ModifyIndex: 0 };
  const view = viewWith(clusterView(snapshot, configuration), job);
  const result = yield* scheduleSteps(view, evaluation, { nowMs, ids, elapsedNs });
  return { view, evaluation, nowMs, result };
}

/** The cluster with the job as it would be. */
function viewWith(view: ClusterView, job: Job): ClusterView {
  const isIt = (namespace: string, id: string) => namespace === job.Namespace && id === job.ID;
  return {
    ...view,
    job: (namespace, id) => (isIt(namespace, id) ? job : view.job(namespace, id)),
    jobVersion: (namespace, id, version) =>
      isIt(namespace, id) && version === job.Version
        ? job
        : view.jobVersion(namespace, id, version),
  };
}

/** The outline of a plan, with the allocations of the snapshot. */
export const outlineIn = (snapshot: Snapshot, decided: ProposalDecision | undefined): Outline =>
  decided === undefined
    ? nothingPlanned
    : outlineOf(decided.result.plan, (namespace, id) =>
        snapshot.table(allocations).get(...inNamespace(namespace, id)),
      );

/** Draws ids and records them. */
export function recorded(ids: Ids): Ids & { readonly drawn: readonly string[] } {
  const drawn: string[] = [];
  return {
    drawn,
    uuid: (near) => {
      const id = ids.uuid(near);
      drawn.push(id);
      return id;
    },
  };
}

/** Draws the recorded ids again, in their order, and new ones after them. */
export function replayed(drawn: readonly string[], ids: Ids): Ids {
  let position = 0;
  return { uuid: (near) => drawn[position++] ?? ids.uuid(near) };
}
