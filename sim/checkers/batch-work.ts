import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Job } from '../../src/model/job/job.ts';
import type { TaskGroup } from '../../src/model/task-group/task-group.ts';
import { jobs, nodes } from '../../src/state/tables.ts';
import { type Account, isLive } from '../account.ts';
import type { Checker, Fault } from './checker.ts';
import { admits, takesWork } from './rules.ts';
import { isBroken, isPattern, openEvaluations } from './waiting.ts';

/**
 * At rest, each group of a batch job has succeeded once under each of its `Count` names in the newest
 * version, and each group of a sysbatch job once on every node. A success that was not reported, as on a lost
 * machine, does not count.
 */
export const batchWorkIsDoneOnce = (): Checker => ({
  guarantee: 'a batch job succeeds as often as wanted',
  rested({ account, nowMs }, fault) {
    const waiting = new Set(openEvaluations(account).map(({ JobID }) => JobID));
    for (const job of account.rows(jobs).values()) {
      const isDone = !job.Stop && !isBroken(job) && !waiting.has(job.ID);
      // A pattern has no allocations, and a child of a schedule may have just begun.
      if (isPattern(job) || (job.ParentID !== '' && isRecent(job, nowMs))) continue;
      // An allocation that got room late may still run.
      if (isUnderWay(job, account, nowMs)) continue;
      if (!isDone || (job.Type !== 'batch' && job.Type !== 'sysbatch')) continue;
      for (const group of job.TaskGroups) checkGroup(job, group, account, fault);
    }
  },
});

const recentMs = 15 * 60_000;
const isRecent = ({ SubmitTime }: Job, nowMs: number): boolean =>
  (SubmitTime ?? 0) / 1e6 > nowMs - recentMs;

const isUnderWay = (job: Job, account: Account, nowMs: number): boolean =>
  [...account.allocationsOf({ Namespace: job.Namespace, JobID: job.ID })].some(
    (one) => isLive(one) && one.CreateTime / 1e6 > nowMs - recentMs,
  );

function checkGroup(job: Job, group: TaskGroup, account: Account, fault: Fault): void {
  const { ID: JobID, Namespace, CreateIndex, Version } = job;
  const done = [...account.allocationsOf({ Namespace, JobID })].filter(
    (one) =>
      one.TaskGroup === group.Name &&
      one.JobCreateIndex === CreateIndex &&
      one.JobVersion === Version &&
      isDone(one),
  );
  const isEverywhere = job.Type === 'sysbatch';
  const byPiece = Map.groupBy(done, ({ Name, NodeID }) => (isEverywhere ? NodeID : Name));
  for (const [piece, { length }] of byPiece) {
    if (length > 1) fault(`${JobID}.${group.Name}: ${piece} succeeded ${length} times`);
  }
  if (!isEverywhere && byPiece.size !== group.Count) {
    fault(
      `${JobID}.${group.Name} succeeded ${byPiece.size} times and is wanted ${group.Count} times`,
    );
  }
  for (const id of isEverywhere ? nodesFor(job, group, account) : []) {
    if (!byPiece.has(id)) fault(`${JobID}.${group.Name} did not succeed on ${id}`);
  }
}

/** Whether it ended by itself with success. */
const isDone = ({ ClientStatus, DesiredStatus, TaskStates }: Allocation): boolean =>
  ClientStatus === 'complete' &&
  DesiredStatus === 'run' &&
  Object.values(TaskStates).every(({ State, Failed }) => State === 'dead' && !Failed);

const nodesFor = (job: Job, group: TaskGroup, account: Account): readonly string[] =>
  [...account.rows(nodes).values()]
    .filter((node) => takesWork(node) && admits(node, job, group))
    .map(({ ID }) => ID);
