/**
 * The status of a check, from its results. Pure; `hooks/services/` on the node runs the checks.
 * Source: docs/behaviour/job-specification.md#checks, docs/behaviour/client.md#health.
 *
 * Invariants
 *
 *  C1. A status changes after as many equal results in a row, since its last change, as its threshold
 *      requires. The thresholds 0 and 1 both mean: at once.
 *  C2. A result of another kind starts the count again.
 */

import type { Check, CheckRestart } from '../service/check.ts';
import type { ServiceStatus } from '../service-registration/service-registration.ts';
import type { CheckStatus } from './check-result.ts';

export type CheckOutcome = 'passing' | 'warning' | 'critical';

export interface CheckCounts {
  readonly status: CheckStatus;
  /** Results in a row, up to now: passing, not passing, and critical. */
  readonly passed: number;
  readonly unwell: number;
  readonly failed: number;
}

export type Thresholds = Pick<
  Check,
  'SuccessBeforePassing' | 'FailuresBeforeCritical' | 'FailuresBeforeWarning'
>;

/** The counts before the first result. */
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
  // The threshold of a warning: a failing check that is not critical yet warns if that takes fewer failures.
  const toWarn =
    failed > 0 ? FailuresBeforeWarning || FailuresBeforeCritical : FailuresBeforeWarning;
  if (unwell < toWarn) return before;
  return before === 'critical' && failed > 0 ? before : 'warning';
}

/** The failures in a row that count for a restart, after one more result. */
export function failuresAfter(
  before: number,
  status: CheckStatus,
  { IgnoreWarnings }: Pick<CheckRestart, 'IgnoreWarnings'>,
): number {
  if (status === 'pending') return before;
  const isFailure = status === 'critical' || (status === 'warning' && !IgnoreWarnings);
  return isFailure ? before + 1 : 0;
}

/** Whether a deployment waits for the check (`healthiness`). Source: docs/behaviour/client.md#health. */
export const modeOf = ({ OnUpdate }: Pick<Check, 'OnUpdate'>): 'healthiness' | 'readiness' =>
  OnUpdate === 'ignore' ? 'readiness' : 'healthiness';

/** Whether the check lets its allocation count as healthy. */
export function satisfies(status: CheckStatus, { OnUpdate }: Pick<Check, 'OnUpdate'>): boolean {
  if (OnUpdate === 'ignore' || status === 'passing') return true;
  return status === 'warning' && OnUpdate === 'ignore_warnings';
}

const worst: readonly CheckStatus[] = ['critical', 'warning', 'pending', 'passing'];

/** The status of an instance in lists: the worst of its checks. */
export const statusOfAll = (statuses: readonly CheckStatus[]): ServiceStatus =>
  worst.find((status) => statuses.includes(status)) ?? 'unchecked';
