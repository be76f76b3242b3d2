import { instantFromMs } from '../../base/instant.ts';
import type { Allocation, AllocationReport } from '../../model/allocation/allocation.ts';
import { isClientTerminal, isTerminal } from '../../model/allocation/allocation-rules.ts';
import { areOlder } from '../../model/allocation/report-order.ts';
import { type Fault, invalid } from '../../model/errors.ts';
import type { Job } from '../../model/job/job.ts';
import { limits } from '../../model/limits.ts';
import { below, faultAt } from '../../model/path.ts';
import { isSame } from '../../model/same.ts';
import { isCurrent, runsOut } from '../../scheduler/reconcile/classify.ts';
import { allocations, evaluations, inNamespace, jobs } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import { rowWithId } from '../checks.ts';
import type { ServerContext } from '../context.ts';
import { recordHealth, reportedStatus } from '../deployments/health.ts';
import { createEvaluation, evaluatedJob } from '../scheduling/create-evaluation.ts';
import { refreshJobStatus } from '../scheduling/job-status.ts';
import { countAllocations, type JobMoves, movesByJob } from '../scheduling/job-summary.ts';
import { removeServicesOfEnded } from '../services/remove.ts';

interface Move {
  readonly before: Allocation;
  readonly after: Allocation;
}

/**
 * Stores a node's reports of its allocations. The whole batch is one transaction. Reports of
 * allocations that are gone are dropped; a report of another node's allocation refuses the batch.
 * Source: docs/behaviour/nodes.md#reports, docs/behaviour/allocations.md#statuses.
 */
export async function reportAllocations(
  { state, world }: ServerContext,
  nodeId: string,
  reports: readonly AllocationReport[],
): Promise<{ readonly index: number }> {
  const { index } = await state.write((transaction) => {
    const nowMs = world.clock.nowMs();
    const known = findReported(transaction, nodeId, reports);
    const moves: Move[] = [];
    for (const report of reports) {
      const before = known.get(report.ID);
      if (before === undefined) continue;
      const merged = merge(before, report, transaction.index, nowMs);
      if (merged === undefined) continue;
      const after = transaction.table(allocations).put(merged);
      // A later report of the batch may be about the same allocation.
      known.set(after.ID, after);
      recordHealth(transaction, before, after, nowMs);
      moves.push({ before, after });
    }
    const jobMoves = movesByJob(moves);
    countAllocations(transaction, jobMoves);
    removeServicesOfEnded(transaction, moves);
    for (const job of jobMoves) {
      evaluateAfter(transaction, world, job);
      refreshJobStatus(transaction, job.namespace, job.id);
    }
  });
  return { index };
}

/**
 * The existing allocations of the batch, by id. Refuses allocations of other nodes, and tasks that
 * an allocation does not have.
 */
function findReported(
  transaction: Transaction,
  nodeId: string,
  reports: readonly AllocationReport[],
): Map<string, Allocation> {
  const known = new Map<string, Allocation>();
  const faults: Fault[] = [];
  const list = below(null, 'Allocations');
  const find = allocationFinder(transaction);
  reports.forEach(({ ID, TaskStates }, position) => {
    const before = known.get(ID) ?? find(ID);
    if (before === undefined) return;
    known.set(ID, before);
    const at = () => below(list, position);
    if (before.NodeID !== nodeId) {
      faults.push(
        faultAt(below(at(), 'ID'), `is an allocation of another node, "${before.NodeID}"`),
      );
      return;
    }
    const tasks = before.AllocatedResources.Tasks;
    for (const task of Object.keys(TaskStates)) {
      if (Object.hasOwn(tasks, task) || faults.length >= limits.fault.listedMax) continue;
      const path = below(at(), 'TaskStates', task.slice(0, limits.fault.quotedLengthMax));
      faults.push(faultAt(path, 'is no task of the allocation'));
    }
  });
  if (faults.length > 0) throw invalid('invalid-body', faults);
  return known;
}

/**
 * Finds allocations by their ids. The next allocation is mostly in the namespace of the last, so that its key finds it. The
 * index of all ids would cost four times as much, since nothing else reads its memory.
 */
function allocationFinder(transaction: Transaction): (id: string) => Allocation | undefined {
  const table = transaction.table(allocations);
  let namespace: string | undefined;
  return (id) => {
    const mayBeNear = namespace !== undefined && !id.includes('\0');
    const near = mayBeNear ? table.get(...inNamespace(namespace!, id)) : undefined;
    const found = near ?? rowWithId(table, id);
    namespace = found?.Namespace ?? namespace;
    return found;
  };
}

/** The row with the report; `undefined`: the report says nothing new or comes too late. */
function merge(
  before: Allocation,
  report: AllocationReport,
  index: number,
  nowMs: number,
): Allocation | undefined {
  // An allocation that has ended stays so, however late another report comes. A lost allocation
  // stays lost; its node stops it on return.
  if (isClientTerminal(before) && report.ClientStatus !== before.ClientStatus) return undefined;
  // An end is news whatever events come with it: a node that has lost its data tells none.
  const isEnd = isClientTerminal(report) && !isClientTerminal(before);
  // The node gave it up and sent a newer one to another server, which was faster.
  if (!isEnd && areOlder(report.TaskStates, before.TaskStates)) return undefined;
  const reported = {
    ClientStatus: report.ClientStatus,
    ClientDescription: report.ClientDescription,
    TaskStates: report.TaskStates,
    DeploymentStatus: reportedStatus(before, report, index, nowMs),
    NetworkStatus: report.NetworkStatus ?? before.NetworkStatus,
  };
  const fields = Object.keys(reported) as (keyof typeof reported)[];
  if (fields.every((field) => isSame(reported[field], before[field]))) return undefined;
  return { ...before, ...reported, ModifyTime: instantFromMs(nowMs) };
}

/**
 * Makes an evaluation for each job with allocations that ended unexpectedly or are known again.
 * Source: docs/behaviour/evaluations.md#triggers.
 */
function evaluateAfter(
  transaction: Transaction,
  world: ServerContext['world'],
  { namespace, id, moves }: JobMoves<Move>,
): void {
  const job = transaction.table(jobs).get(...inNamespace(namespace, id));
  if (job === undefined) evaluateOrphans(transaction, world, moves);
  if (job === undefined || job.Stop) return;
  const isShort = moves.some(
    ({ before, after }) =>
      after.JobCreateIndex === job.CreateIndex &&
      after.DesiredStatus === 'run' &&
      !isClientTerminal(before) &&
      isClientTerminal(after) &&
      !isFulfilled(after, job),
  );
  if (isShort) createEvaluation(transaction, world, { job, triggeredBy: 'alloc-failure' });
  const isBack = moves.some(
    ({ before, after }) => before.ClientStatus === 'unknown' && after.ClientStatus !== 'unknown',
  );
  if (isBack && !isShort) createEvaluation(transaction, world, { job, triggeredBy: 'reconnect' });
}

/** Whether the allocation has done all that its job wants of it, so that nothing takes its place. */
const isFulfilled = (allocation: Allocation, job: Job): boolean =>
  allocation.ClientStatus === 'complete' && runsOut(job) && isCurrent(allocation, job);

/**
 * Allocations of a purged job that still run are stopped by an evaluation, unless one is pending.
 */
function evaluateOrphans(
  transaction: Transaction,
  world: ServerContext['world'],
  moves: readonly Move[],
): void {
  const orphan = moves.find(({ after }) => !isTerminal(after))?.after;
  if (orphan === undefined) return;
  const range = { prefix: inNamespace(orphan.Namespace, orphan.JobID) };
  if (transaction.table(evaluations).by('open').find(range) !== undefined) return;
  const job = evaluatedJob(transaction, orphan);
  createEvaluation(transaction, world, { job, triggeredBy: 'job-deregister' });
}
