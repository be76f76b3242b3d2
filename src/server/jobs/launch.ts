/** Launches of periodic jobs, by schedule and by hand. */
import type { World } from '../../base/ports.ts';
import { type Fault, refusal } from '../../model/errors.ts';
import { launchedChild } from '../../model/job/child.ts';
import type { Job } from '../../model/job/job.ts';
import { isParameterized } from '../../model/job/job-rules.ts';
import { isLaunching, latestLaunch, launchId } from '../../model/job/periodic-launch.ts';
import { limits } from '../../model/limits.ts';
import { childPart, evaluations, inNamespace, jobs } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { notAllowedIn, requireCapabilities } from '../namespaces/capabilities.ts';
import { newEvaluation } from '../scheduling/create-evaluation.ts';
import { registerChild } from './children.ts';
import { settledUntilMs, settleUntil } from './launches.ts';
import { requireQueueRoom, requireStoreRoom } from './register.ts';

type Ports = Pick<World, 'clock' | 'ids'>;

/**
 * `nothing` was due; `launched`; `overlap`: the launch before has not ended; `taken`: a job has the
 * child's id already, such as a launch by hand in the same second; `not-allowed` by the namespace.
 */
export type LaunchOutcome = 'nothing' | 'launched' | 'overlap' | 'taken' | 'not-allowed';

/**
 * Launches a job by its schedule if it is due. If several slots have passed, only the last one is
 * launched, and all of them are settled in the same transaction.
 * Source: docs/behaviour/jobs.md#launches.
 */
export function launchIfDue(
  transaction: Transaction,
  world: Ports,
  { namespace, jobId }: { readonly namespace: string; readonly jobId: string },
): LaunchOutcome {
  const job = transaction.table(jobs).get(...inNamespace(namespace, jobId));
  if (job === undefined || !isLaunching(job)) return 'nothing';
  const nowMs = world.clock.nowMs();
  const slotMs = latestLaunch(job, settledUntilMs(transaction, job), nowMs);
  if (slotMs === undefined) return 'nothing';
  settleUntil(transaction, job, slotMs);
  if (job.Periodic!.ProhibitOverlap && hasActiveChild(transaction, job)) return 'overlap';
  if (isTaken(transaction, job, slotMs)) return 'taken';
  const child = launchedChild(job, slotMs, nowMs);
  const [fault] = notAllowedIn(transaction, child);
  if (fault !== undefined) {
    tellLeftOut(transaction, world, job, fault);
    return 'not-allowed';
  }
  registerChild(transaction, world, child, 'periodic-job');
  return 'launched';
}

/**
 * No caller waits for a scheduled launch, so the reason why it was left out is kept as a failed
 * evaluation.
 */
function tellLeftOut(transaction: Transaction, world: Ports, job: Job, { message }: Fault): void {
  transaction.table(evaluations).put({
    ...newEvaluation(world, { job, triggeredBy: 'periodic-job' }),
    Status: 'failed',
    StatusDescription: `the launch was left out, as the namespace does not allow it: ${message}`,
  });
}

export interface Forced {
  readonly EvalID: string;
  readonly EvalCreateIndex: number;
  readonly Index: number;
}

/**
 * Launches a periodic job now, even if earlier launches still run. Its schedule stays.
 * Source: docs/contract/jobs.md#launch-a-periodic-job-now, docs/behaviour/jobs.md#launches.
 * @throws RosterError `job-not-found`, `launch-refused`, `job-not-allowed`, `too-many-launches`,
 * `queue-full`, `store-full`
 */
export async function forceLaunch(
  context: ServerContext,
  namespace: string,
  jobId: string,
): Promise<Forced> {
  const { state, world } = context;
  requireQueueRoom(context);
  requireStoreRoom(context);
  const { index, value } = await state.write((transaction) => {
    const job = transaction.table(jobs).get(...inNamespace(namespace, jobId));
    if (job === undefined) throw refusal('job-not-found', { job: jobId, namespace });
    const reason = refusedLaunch(job);
    if (reason !== undefined) throw refusal('launch-refused', { job: jobId, reason });
    const nowMs = world.clock.nowMs();
    const child = launchedChild(job, freeSecond(transaction, job, nowMs), nowMs);
    requireCapabilities(transaction, child);
    return registerChild(transaction, world, child, 'periodic-job').evaluation;
  });
  return { EvalID: value?.ID ?? '', EvalCreateIndex: value?.CreateIndex ?? 0, Index: index };
}

/** Source: docs/behaviour/jobs.md#launches. */
function refusedLaunch(job: Job): string | undefined {
  if (job.Periodic === null) return 'it is not periodic';
  if (isParameterized(job)) return 'it is parameterized, so only its dispatches launch';
  if (job.Stop) return 'it is stopped';
  return job.Periodic.Enabled ? undefined : 'its Periodic block is not enabled';
}

/** The id of a launch names a second: a second launch within one takes the next free second. */
function freeSecond(transaction: Transaction, job: Job, nowMs: number): number {
  const { forcedAheadSecondsMax: limit } = limits.periodic;
  for (let ahead = 0; ahead < limit; ahead++) {
    const secondMs = nowMs + ahead * 1000;
    if (!isTaken(transaction, job, secondMs)) return secondMs;
  }
  throw refusal('too-many-launches', { job: job.ID, limit });
}

const isTaken = (transaction: Transaction, { Namespace, ID }: Job, slotMs: number): boolean =>
  transaction.table(jobs).has(...inNamespace(Namespace, launchId(ID, slotMs)));

function hasActiveChild(transaction: Transaction, { Namespace, ID }: Job): boolean {
  const range = { prefix: inNamespace(Namespace, ID, childPart('pending')) };
  return !transaction.table(jobs).by('child').scan(range).next().done;
}
