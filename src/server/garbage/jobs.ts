import type { Job } from '../../model/job/job.ts';
import { limits } from '../../model/limits.ts';
import {
  allocations,
  deployments,
  evaluations,
  inNamespace,
  jobs,
  jobVersions,
  nodes,
} from '../../state/tables.ts';
import type { Snapshot, Transaction } from '../../state/types.ts';
import { forgetJob } from '../jobs/forget.ts';
import { removeServicesOf } from '../services/remove.ts';
import type { Pass } from './pass.ts';
import { isJobGarbage, keepsJob } from './rules.ts';
import { Window } from './window.ts';

type Reader = Snapshot | Transaction;

/** How many rows of each table were deleted. */
interface Counts {
  jobs: number;
  evaluations: number;
  allocations: number;
  deployments: number;
}

/**
 * Deletes jobs with everything that belongs to them, several small jobs in one transaction. If a
 * job has more rows than a transaction may delete, its evaluations and allocations are deleted
 * first.
 */
export async function collectJobs(pass: Pass): Promise<Counts> {
  const { state, world } = pass.context;
  const counts: Counts = { jobs: 0, evaluations: 0, allocations: 0, deployments: 0 };
  const seen = state.read();
  const window = new Window();
  let candidates: Job[] = [];
  const look = (job: Job) => {
    if (isJobGarbage(job, pass.ages, world.clock.nowMs())) candidates.push(job);
    return candidates.length >= limits.garbage.rowsPerTransactionMax ? 'pause' : 'on';
  };
  const flush = async () => {
    const part = candidates;
    candidates = [];
    await collectSome(pass, part, { seen, counts, window });
  };
  const walk = pass.walk(seen.table(jobs).scan(), look);
  while (!(await walk.next()).done) await flush();
  await flush();
  await window.settle();
  return counts;
}

interface Collection {
  readonly seen: Snapshot;
  readonly counts: Counts;
  readonly window: Window;
}

async function collectSome(
  pass: Pass,
  candidates: readonly Job[],
  { seen, counts, window }: Collection,
): Promise<void> {
  const { rowsPerTransactionMax } = limits.garbage;
  let batch: Job[] = [];
  let rows = 0;
  const flush = async () => {
    const part = batch;
    batch = [];
    rows = 0;
    if (part.length === 0) return;
    await window.add(() =>
      pass.write((transaction) => removeJobs(transaction, pass, part, counts)),
    );
  };
  for (const job of candidates) {
    let size = await sizeOf(pass, seen, job);
    if (size === undefined) continue;
    if (size > rowsPerTransactionMax) {
      await drain(pass, job, counts);
      size = 0;
    }
    // The job, its counters, and a few versions and sources.
    size += rowsOfJob;
    if (rows + size > rowsPerTransactionMax) await flush();
    batch.push(job);
    rows += size;
  }
  await flush();
}

const rowsOfJob = 8;

const ofJob = ({ Namespace, ID }: Job) => ({ prefix: inNamespace(Namespace, ID) });

const hasTag = (reader: Reader, job: Job): boolean =>
  [...reader.table(jobVersions).scan(ofJob(job))].some(keepsJob.version);

/** How many rows belong to the job; `undefined`: one of them keeps the job. */
async function sizeOf(pass: Pass, seen: Snapshot, job: Job): Promise<number | undefined> {
  if (hasTag(seen, job)) return undefined;
  const { clock } = pass.context.world;
  let size = 0;
  let isKept = false;
  const look = (keeps: boolean) => {
    size++;
    isKept ||= keeps;
    return isKept ? 'end' : 'on';
  };
  const ofEvaluations = seen.table(evaluations).by('job').scan(ofJob(job));
  const evaluationWalk = pass.walk(ofEvaluations, (one) =>
    look(keepsJob.evaluation(one, pass.ages, clock.nowMs())),
  );
  await evaluationWalk.next();
  const ofAllocations = seen.table(allocations).by('job').scan(ofJob(job));
  const allocationWalk = pass.walk(isKept ? [] : ofAllocations, (one) => {
    const node = seen.table(nodes).get(one.NodeID);
    return look(keepsJob.allocation(one, node, pass.ages, clock.nowMs()));
  });
  await allocationWalk.next();
  return isKept ? undefined : size;
}

/** Deletes allocations and evaluations of a job in parts, as long as the job does not change. */
async function drain(pass: Pass, job: Job, counts: Counts): Promise<void> {
  for (let isMore = true; isMore; ) {
    isMore = await pass.write((transaction) => {
      if (!isUnchanged(transaction, job)) return false;
      return removeRows(transaction, pass, job, counts) === limits.garbage.rowsPerTransactionMax;
    });
  }
}

const isUnchanged = (transaction: Transaction, { Namespace, ID, ModifyIndex }: Job): boolean =>
  transaction.table(jobs).get(...inNamespace(Namespace, ID))?.ModifyIndex === ModifyIndex;

/**
 * Deletes rows that do not keep the job, at most as many as a transaction may; returns their
 * number.
 */
function removeRows(transaction: Transaction, pass: Pass, job: Job, counts: Counts): number {
  const { ages } = pass;
  const nowMs = pass.context.world.clock.nowMs();
  const { rowsPerTransactionMax } = limits.garbage;
  let removed = 0;
  for (const one of first(transaction.table(allocations).by('job').scan(ofJob(job)))) {
    const node = transaction.table(nodes).get(one.NodeID);
    if (keepsJob.allocation(one, node, ages, nowMs)) continue;
    removeServicesOf(transaction, one);
    transaction.table(allocations).delete(...inNamespace(one.Namespace, one.ID));
    counts.allocations++;
    removed++;
  }
  const left = rowsPerTransactionMax - removed;
  for (const one of first(transaction.table(evaluations).by('job').scan(ofJob(job)), left)) {
    if (keepsJob.evaluation(one, ages, nowMs)) continue;
    transaction.table(evaluations).delete(...inNamespace(one.Namespace, one.ID));
    counts.evaluations++;
    removed++;
  }
  return removed;
}

/** The first rows of a range, collected before any of them is deleted. */
function first<R>(rows: Iterable<R>, most: number = limits.garbage.rowsPerTransactionMax): R[] {
  const taken: R[] = [];
  if (most <= 0) return taken;
  for (const row of rows) {
    taken.push(row);
    if (taken.length === most) break;
  }
  return taken;
}

function removeJobs(
  transaction: Transaction,
  pass: Pass,
  candidates: readonly Job[],
  counts: Counts,
): void {
  const nowMs = pass.context.world.clock.nowMs();
  for (const job of candidates) {
    if (!isUnchanged(transaction, job) || hasTag(transaction, job)) continue;
    if (!isJobGarbage(job, pass.ages, nowMs)) continue;
    removeRows(transaction, pass, job, counts);
    const left = [
      transaction.table(allocations).by('job').scan(ofJob(job)),
      transaction.table(evaluations).by('job').scan(ofJob(job)),
    ];
    // Rows came meanwhile: the next collection looks again.
    if (left.some((rows) => first<unknown>(rows, 1).length > 0)) continue;
    for (const { ID } of [...transaction.table(deployments).by('job').scan(ofJob(job))]) {
      transaction.table(deployments).delete(...inNamespace(job.Namespace, ID));
      counts.deployments++;
    }
    forgetJob(transaction, job);
    counts.jobs++;
  }
}
