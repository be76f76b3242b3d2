/**
 * Plans by their ids (`jobs/plan/kept.ts` has the invariants of their rows), and the content of plans of every act
 * but the registration of a job.
 */
import type { SecretBox } from '../../base/secret-box.ts';
import { refusal } from '../../model/errors.ts';
import type { Act } from '../../model/kept-plan/act.ts';
import type { KeptPlan } from '../../model/kept-plan/kept-plan.ts';
import type { Effects } from '../../model/kept-plan/shown-plan.ts';
import { limits } from '../../model/limits.ts';
import { inNamespace, keptPlans } from '../../state/tables.ts';
import type { Snapshot, State, Written } from '../../state/types.ts';

/** The content of a plan. */
export interface PlannedAct {
  readonly act: Act;
  readonly effects: Effects;
  /** The ids drawn for the plan: carrying it out uses the ids that were shown. */
  readonly ids: readonly string[];
}

export const openAct = (box: SecretBox, { Sealed }: Pick<KeptPlan, 'Sealed'>): PlannedAct =>
  JSON.parse(box.open(Sealed));

export function findPlan(snapshot: Snapshot, id: string): KeptPlan | undefined {
  // No stored id has a NUL, which separates the parts of a key.
  if (id.includes('\0')) return undefined;
  const { value } = snapshot
    .table(keptPlans)
    .by('id')
    .scan({ prefix: [id] })
    .next();
  return value;
}

/** @throws RosterError `plan-gone` */
export function keptPlan(snapshot: Snapshot, id: string, nowMs: number): KeptPlan {
  const kept = findPlan(snapshot, id);
  if (kept !== undefined && kept.ExpireMs > nowMs) return kept;
  throw refusal('plan-gone', { plan: id, minutes: limits.plan.keptMs / 60_000 });
}

/** @throws RosterError `plan-gone`, `plan-carried-out` */
export function openPlan(snapshot: Snapshot, id: string, nowMs: number): KeptPlan {
  const kept = keptPlan(snapshot, id, nowMs);
  if (kept.CarriedOutIndex === 0) return kept;
  const { CarriedOutBy, CarriedOutIndex: index } = kept;
  throw refusal('plan-carried-out', { plan: id, by: CarriedOutBy && ` by ${CarriedOutBy}`, index });
}

/** Deletes the plan, whether it was carried out or not. @throws RosterError `plan-gone` */
export const discardPlan = (
  state: Pick<State, 'write'>,
  id: string,
  nowMs: number,
): Promise<Written<boolean>> =>
  state.write((transaction) => {
    const { Namespace, JobID, ID } = keptPlan(transaction, id, nowMs);
    return transaction.table(keptPlans).delete(...inNamespace(Namespace, JobID, ID));
  });
