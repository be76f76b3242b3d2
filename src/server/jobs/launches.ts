import { instantFromMs } from '../../base/instant.ts';
import type { Job } from '../../model/job/job.ts';
import { isLaunching, settledMs } from '../../model/job/periodic-launch.ts';
import { isSame } from '../../model/same.ts';
import { inNamespace, periodicLaunches } from '../../state/tables.ts';
import type { Snapshot, Transaction } from '../../state/types.ts';

/** The instant, in ms, up to which the job's slots are settled. */
export const settledUntilMs = (snapshot: Snapshot, job: Job): number =>
  settledMs(job, snapshot.table(periodicLaunches).get(...inNamespace(job.Namespace, job.ID)));

/**
 * Settles all slots up to the instant: they are not launched any more. It never goes back, so no
 * slot launches twice.
 */
export function settleUntil(transaction: Transaction, job: Job, untilMs: number): void {
  const table = transaction.table(periodicLaunches);
  const known = table.get(...inNamespace(job.Namespace, job.ID));
  const Launch = Math.max(known?.Launch ?? 0, instantFromMs(untilMs));
  if (Launch !== known?.Launch) table.put({ Namespace: job.Namespace, JobID: job.ID, Launch });
}

/**
 * Slots before a job got its schedule, or while it was stopped or disabled, are not made up for. A
 * new version with the same schedule keeps slots that are due.
 * Source: docs/behaviour/jobs.md#launches.
 */
export function settleEarlierSlots(
  transaction: Transaction,
  before: Job | undefined,
  after: Job,
): void {
  if (!isLaunching(after)) return;
  const goesOn =
    before !== undefined && isLaunching(before) && isSame(before.Periodic, after.Periodic);
  if (!goesOn) settleUntil(transaction, after, settledMs(after, undefined));
}
