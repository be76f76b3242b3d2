import type { Allocation } from '../../model/allocation/allocation.ts';
import type { Job, JobStatus } from '../../model/job/job.ts';
import type { JobSummary } from '../../model/job-summary/job-summary.ts';
import {
  summaryFor,
  withAllocation,
  withChild,
  withQueued,
} from '../../model/job-summary/job-summary-rules.ts';
import { isSame } from '../../model/same.ts';
import { inNamespace, jobSummaries, jobs } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';

/** Gives the summary the groups of the job, and counts no more as queued than the job wants. */
export function summarizeGroups(transaction: Transaction, job: Job): void {
  const table = transaction.table(jobSummaries);
  const existing = table.get(...inNamespace(job.Namespace, job.ID));
  const summary = summaryFor(job, existing);
  const isNew = existing?.JobCreateIndex !== job.CreateIndex;
  const counted = isNew ? withChildren(transaction, summary) : summary;
  if (!isSame(existing, counted)) table.put(counted);
}

/** A new job may have children: children of an earlier registration of its id are not stopped. */
function withChildren(transaction: Transaction, summary: JobSummary): JobSummary {
  const range = { prefix: inNamespace(summary.Namespace, summary.JobID) };
  let counted = summary;
  for (const child of transaction.table(jobs).by('child').scan(range)) {
    counted = withChild(counted, undefined, child.Status);
  }
  return counted;
}

/**
 * Counts a child's change of status in its parent's summary; `before` is `undefined` for a new
 * child. Source: docs/behaviour/jobs.md#the-status-of-a-job.
 */
export function countChild(
  transaction: Transaction,
  { Namespace, ParentID }: Pick<Job, 'Namespace' | 'ParentID'>,
  before: JobStatus | undefined,
  after: JobStatus,
): void {
  if (ParentID === '') return;
  const table = transaction.table(jobSummaries);
  const summary = table.get(...inNamespace(Namespace, ParentID));
  if (summary === undefined) return;
  const counted = withChild(summary, before, after);
  if (counted !== summary) table.put(counted);
}

export interface Move {
  /** `undefined`: the allocation is new. */
  readonly before: Allocation | undefined;
  readonly after: Allocation;
}

/** Changes of the allocations of one job. */
export interface JobMoves<M extends Move = Move> {
  readonly namespace: string;
  readonly id: string;
  readonly moves: M[];
}

/** The changes by their jobs. */
export function movesByJob<M extends Move>(moves: readonly M[]): readonly JobMoves<M>[] {
  const jobsByName = new Map<string, JobMoves<M>>();
  for (const move of moves) {
    const { Namespace: namespace, JobID: id } = move.after;
    const name = `${namespace}\0${id}`;
    const known = jobsByName.get(name);
    if (known === undefined) jobsByName.set(name, { namespace, id, moves: [move] });
    else known.moves.push(move);
  }
  return [...jobsByName.values()];
}

/** Counts changes of allocations in the summaries of their jobs. */
export function countAllocations(transaction: Transaction, jobs: readonly JobMoves[]): void {
  const table = transaction.table(jobSummaries);
  for (const { namespace, id, moves } of jobs) {
    const stored = table.get(...inNamespace(namespace, id));
    if (stored === undefined) continue;
    let counted = stored;
    for (const { before, after } of moves) counted = withAllocation(counted, before, after);
    if (counted !== stored) table.put(counted);
  }
}

/** Stores, by group, how many allocations the last evaluation could not place. */
export function setQueued(
  transaction: Transaction,
  namespace: string,
  jobId: string,
  queued: Readonly<Record<string, number>>,
): void {
  const table = transaction.table(jobSummaries);
  const key = inNamespace(namespace, jobId);
  const summary = table.get(...key);
  const job = transaction.table(jobs).get(...key);
  if (summary === undefined || job === undefined) return;
  const settled = withQueued(summary, queued, job);
  if (settled !== summary) table.put(settled);
}
