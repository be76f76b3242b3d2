/**
 * What the results of a check come to. Pure; `hooks/services/` on the node does the checking.
 * Source: docs/behaviour/job-specification.md#checks, docs/behaviour/client.md#health.
 *
 * Invariants
 *  C1. A status follows from the results since the last change of it, and from how many of a kind in
 *      a row it takes. 0 and 1 both mean: at once.
 *  C2. Results of another kind begin the counting anew.
 */

import type { Check, CheckRestart } from '../service/check.ts';
import type { ServiceStatus } from '../service-registration/service-registration.ts';
import type { CheckStatus } from './check-result.ts';

/** The outcome of one check. */
export type CheckOutcome = 'passing' | 'warning' | 'critical';

export interface CheckCounts {
  readonly status: CheckStatus;
  /** In a row, up to now: that passed, that did not, and that failed. */
  readonly passed: number;
  readonly unwell: number;
  readonly failed: number;
}

export type Thresholds = Pick<
  Check,
  'SuccessBeforePassing' | 'FailuresBeforeCritical' | 'FailuresBeforeWarning'
>;

/** Before it was checked. */
export const initialCounts = ({ InitialStatus }: Pick<Check, 'InitialStatus'>): CheckCounts => ({
  status: InitialStatus === '' ? 'pending' : InitialStatus,
  passed: 0,
  unwell: 0,
  failed: 0,
});

export function counted(
  before: CheckCounts,
  outcome: CheckOutcome,
  thresholds: Thresholds,
): CheckCounts {
  const isWell = outcome === 'passing';
  const counts = {
    passed: isWell ? before.passed + 1 : 0,
    unwell: isWell ? 0 : before.unwell + 1,
    failed: outcome === 'critical' ? before.failed + 1 : 0,
  };
  return { ...counts, status: statusAfter(before.status, counts, thresholds) };
}

function statusAfter(
  before: CheckStatus,
  { passed, unwell, failed }: Omit<CheckCounts, 'status'>,
  { SuccessBeforePassing, FailuresBeforeCritical, FailuresBeforeWarning }: Thresholds,
): CheckStatus {
  if (passed > 0) return passed >= SuccessBeforePassing ? 'passing' : before;
  if (failed > 0 && failed >= FailuresBeforeCritical) return 'critical';
  // A failing check that is not critical yet warns, where that takes fewer failures.
  const toWarn =
    failed > 0 ? FailuresBeforeWarning || FailuresBeforeCritical : FailuresBeforeWarning;
  if (unwell < toWarn) return before;
  return before === 'critical' && failed > 0 ? before : 'warning';
}

/** How often it failed in a row as far as restarts are concerned, after one more result. */
export function failuresAfter(
  before: number,
  status: CheckStatus,
  { IgnoreWarnings }: Pick<CheckRestart, 'IgnoreWarnings'>,
): number {
  if (status === 'pending') return before;
  const isFailure = status === 'critical' || (status === 'warning' && !IgnoreWarnings);
  return isFailure ? before + 1 : 0;
}

/** Whether a deployment waits for it: `healthiness`. Source: docs/behaviour/client.md#health. */
export const modeOf = ({ OnUpdate }: Pick<Check, 'OnUpdate'>): 'healthiness' | 'readiness' =>
  OnUpdate === 'ignore' ? 'readiness' : 'healthiness';

/** Whether its allocation may count as healthy. */
export function satisfies(status: CheckStatus, { OnUpdate }: Pick<Check, 'OnUpdate'>): boolean {
  if (OnUpdate === 'ignore' || status === 'passing') return true;
  return status === 'warning' && OnUpdate === 'ignore_warnings';
}

const worst: readonly CheckStatus[] = ['critical', 'warning', 'pending', 'passing'];

/** The worst of an instance's checks is what it is listed with. */
export const statusOfAll = (statuses: readonly CheckStatus[]): ServiceStatus =>
  worst.find((status) => statuses.includes(status)) ?? 'unchecked';
