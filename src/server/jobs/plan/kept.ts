/**
 * The plans that can be carried out, as rows of the state: so any server that leads can carry out a plan, whoever
 * made it.
 *
 * Invariants
 *  K1. The transaction that carries a plan out notes it in the plan's row, and runs only if the row has no such
 *      note. So a plan is carried out once at most, whatever becomes of the leader.
 *  K2. There are at most `keptMax` plans with `keptBytesMax` together; the oldest are dropped first.
 *  K3. The job and the changes of a plan are sealed. They are told to the caller that made the plan and to callers
 *      that may read the job; anybody else is only told whether the plan was carried out now.
 */
import type { SecretBox } from '../../../base/secret-box.ts';
import { refusal } from '../../../model/errors.ts';
import type { Job } from '../../../model/job/job.ts';
import type { JobPlan } from '../../../model/job-plan/job-plan.ts';
import type { KeptPlan, PlanSubject } from '../../../model/kept-plan/kept-plan.ts';
import { limits } from '../../../model/limits.ts';
import type { Outline } from '../../../model/plan/outline.ts';
import {
  type PackedOutline,
  packOutline,
  unpackOutline,
} from '../../../model/plan/packed-outline.ts';
import { inNamespace, keptPlans } from '../../../state/tables.ts';
import type { Snapshot, State, Transaction } from '../../../state/types.ts';
import type { Registration } from '../register.ts';

/** The content of a plan. */
export interface Planned {
  /** As submitted, in canonical form. */
  readonly job: Job;
  /** `JobModifyIndex` of the job that was stored then; 0: it was new. */
  readonly jobModifyIndex: number;
  readonly outline: Outline;
  /** The ids drawn for the plan: carrying it out uses the ids that were shown. */
  readonly ids: readonly string[];
  /** The rest of the request, for a plan that is carried out by its id. Servers before version 0.3 keep none. */
  readonly request?: PlannedRequest;
  /** The rest of the answer. Servers before version 0.3 keep none. */
  readonly shown?: PlannedShown;
}

export interface PlannedRequest
  extends Pick<Registration, 'preserveCounts' | 'preserveResources' | 'policyOverride'> {
  readonly submission: NonNullable<Registration['submission']> | null;
}

export interface PlannedShown
  extends Pick<JobPlan, 'Diff' | 'FailedTGAllocs'>,
    Pick<JobPlan['Annotations'], 'DesiredTGUpdates'> {
  readonly Index: number;
  readonly Warnings: readonly string[];
  /** The reason of each change, in the order of the outline; for a placement with its id. */
  readonly told: readonly (readonly [why: string, id?: string])[];
}

/** A plan that a caller wants carried out. */
export interface WantedPlan {
  readonly id: string;
  readonly caller: string;
  /** Whether the caller may read jobs of a namespace. */
  readonly mayRead: (namespace: string) => boolean;
}

/** Keeps a plan that is sealed in this very transaction. */
export function keepPlan(
  transaction: Transaction,
  plan: PlanSubject & Pick<KeptPlan, 'ID' | 'MadeBy' | 'Sealed' | 'Packed'>,
  nowMs: number,
): void {
  const table = transaction.table(keptPlans);
  const { keptMax, keptBytesMax, keptMs } = limits.plan;
  let [count, bytes] = [1, plan.Sealed.length];
  const old: KeptPlan[] = [];
  for (const kept of table.by('expiry').scan({ reverse: true })) {
    count++;
    bytes += kept.Sealed.length;
    if (count > keptMax || bytes > keptBytesMax || kept.ExpireMs <= nowMs) old.push(kept);
  }
  for (const { Namespace, JobID, ID } of old) table.delete(...inNamespace(Namespace, JobID, ID));
  table.put({
    ...plan,
    CarriedOutBy: '',
    CarriedOutIndex: 0,
    OutdatedIndex: 0,
    ExpireMs: nowMs + keptMs,
  });
}

/** @throws RosterError `plan-not-found`: the job has no such plan to carry out */
export function requirePlan(
  snapshot: Snapshot,
  { Namespace, ID }: Pick<Job, 'Namespace' | 'ID'>,
  wanted: WantedPlan,
  nowMs: number,
): KeptPlan {
  const kept = snapshot.table(keptPlans).get(...inNamespace(Namespace, ID, wanted.id));
  const isKept = kept !== undefined && kept.ExpireMs > nowMs;
  if (isKept && kept.CarriedOutIndex === 0) return kept;
  const minutes = limits.plan.keptMs / 60_000;
  const isTold = isKept && (kept.CarriedOutBy === wanted.caller || isShown(kept, wanted));
  const fate = isTold ? fateOf(kept) : '';
  throw refusal('plan-not-found', { plan: wanted.id, job: ID, minutes, fate });
}

const fateOf = ({ CarriedOutBy, CarriedOutIndex }: KeptPlan) =>
  ` It was carried out${CarriedOutBy && ` by ${CarriedOutBy}`} at index ${CarriedOutIndex}.`;

/** Whether the caller may know what was planned. */
export const isShown = (
  { MadeBy, Namespace }: Pick<KeptPlan, 'MadeBy' | 'Namespace'>,
  { caller, mayRead }: Pick<WantedPlan, 'caller' | 'mayRead'>,
) => MadeBy === caller || mayRead(Namespace);

export function notePlanCarriedOut(
  transaction: Transaction,
  kept: KeptPlan,
  CarriedOutBy: string,
): void {
  const { index: CarriedOutIndex } = transaction;
  transaction.table(keptPlans).put({
    ...kept,
    // A plan of another act can be read until it expires.
    ...(kept.Kind === 'job' && { Sealed: '', Packed: false }),
    CarriedOutBy,
    CarriedOutIndex,
  });
}

/**
 * Has the row tell that the plan was refused, since something has moved: the first time, as callers may try often.
 * A store that takes no write keeps nobody from being told the refusal itself.
 */
export async function notePlanOutdated(
  { state }: { readonly state: Pick<State, 'write' | 'head' | 'isFull'> },
  { Namespace, JobID, ID }: Pick<KeptPlan, 'Namespace' | 'JobID' | 'ID'>,
): Promise<void> {
  const key = inNamespace(Namespace, JobID, ID);
  const isNew = (kept: KeptPlan | undefined) =>
    kept !== undefined && kept.OutdatedIndex === 0 && kept.CarriedOutIndex === 0;
  if (
    state.isFull ||
    !isNew(
      state
        .head()
        .table(keptPlans)
        .get(...key),
    )
  )
    return;
  const noted = state.write((transaction) => {
    const kept = transaction.table(keptPlans).get(...key);
    if (kept === undefined || !isNew(kept)) return;
    transaction.table(keptPlans).put({ ...kept, OutdatedIndex: transaction.index });
  });
  await noted.catch(() => {});
}

/** The content of a plan as it is sealed. Servers before version 0.1.4 sealed it as it is. */
type SealedPlan = Omit<Planned, 'outline'> & { readonly outline: PackedOutline };

/** The text of a plan, to be sealed. */
export const plannedText = (planned: Planned): string =>
  JSON.stringify({ ...planned, outline: packOutline(planned.outline) } satisfies SealedPlan);

export function openPlanned(box: SecretBox, { Sealed, Packed }: KeptPlan): Planned {
  const content: unknown = JSON.parse(box.open(Sealed));
  if (!Packed) return content as Planned;
  const sealed = content as SealedPlan;
  return { ...sealed, outline: unpackOutline(sealed.outline) };
}
