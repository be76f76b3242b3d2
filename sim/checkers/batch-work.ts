import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Job } from '../../src/model/job/job.ts';
import type { TaskGroup } from '../../src/model/task-group/task-group.ts';
import { jobs, nodes } from '../../src/state/tables.ts';
import { type Account, isLive } from '../account.ts';
import type { Checker, Fault } from './checker.ts';
import { admits, takesWork } from './rules.ts';
import { isBroken, isPattern, openEvaluations } from './waiting.ts';

/**
 * At rest, a batch job's work was done as often as wanted, and no piece of it twice: so many ends
 * without a fault of the newest version, each under another name, or one on each node. An end that
 * nobody heard of in time, as of a machine that was lost, does not count.
 */
export const batchWorkIsDoneOnce = (): Checker => ({
  guarantee: "a batch job's work is done as often as wanted",
  rested({ account, nowMs }, fault) {
    const waiting = new Set(openEvaluations(account).map(({ JobID }) => JobID));
    for (const job of account.rows(jobs).values()) {
      const isDone = !job.Stop && !isBroken(job) && !waiting.has(job.ID);
      // Of a pattern nothing runs itself, and what a schedule launches may have just begun.
      if (isPattern(job) || (job.ParentID !== '' && isRecent(job, nowMs))) continue;
      // Room for it may have come late.
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
    if (length > 1) fault(`${JobID}.${group.Name}: the work of ${piece} was done ${length} times`);
  }
  if (!isEverywhere && byPiece.size !== group.Count) {
    fault(
      `${JobID}.${group.Name} was done ${byPiece.size} times and is wanted ${group.Count} times`,
    );
  }
  for (const id of isEverywhere ? nodesFor(job, group, account) : []) {
    if (!byPiece.has(id)) fault(`${JobID}.${group.Name} was not done on ${id}`);
  }
}

/** It came to its end by itself, and well. */
const isDone = ({ ClientStatus, DesiredStatus, TaskStates }: Allocation): boolean =>
  ClientStatus === 'complete' &&
  DesiredStatus === 'run' &&
  Object.values(TaskStates).every(({ State, Failed }) => State === 'dead' && !Failed);

const nodesFor = (job: Job, group: TaskGroup, account: Account): readonly string[] =>
  [...account.rows(nodes).values()]
    .filter((node) => takesWork(node) && admits(node, job, group))
    .map(({ ID }) => ID);
