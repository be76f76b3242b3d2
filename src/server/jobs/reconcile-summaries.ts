import { pause } from '../../base/slices.ts';
import type { ClientStatus } from '../../model/allocation/allocation.ts';
import type { Job, JobStatus } from '../../model/job/job.ts';
import {
  countsOfChildren,
  type Recount,
  summaryFor,
  withRecount,
} from '../../model/job-summary/job-summary-rules.ts';
import { limits } from '../../model/limits.ts';
import { isSame } from '../../model/same.ts';
import { allocations, inNamespace, jobSummaries, jobs } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';

/**
 * How often a job that changes while it is counted is counted again. Not in limits: it bounds work
 * that no caller sees.
 */
const attemptsMax = 5;

/**
 * Counts the summaries of all jobs again, job by job and in slices. Returns how many were wrong.
 * Source: docs/behaviour/jobs.md#garbage-collection.
 */
export async function reconcileSummaries(context: ServerContext): Promise<number> {
  const { state, world } = context;
  let changed = 0;
  let looked = 0;
  const giveWay = async () => {
    if (++looked % limits.garbage.rowsPerSliceMax !== 0) return;
    await pause(world.timers);
  };
  for (const { Namespace, ID } of state.read().table(jobs).scan()) {
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const outcome = await reconcileOne(context, Namespace, ID, giveWay);
      if (outcome === 'changed') changed++;
      if (outcome !== 'moved') break;
    }
  }
  return changed;
}

async function reconcileOne(
  context: ServerContext,
  namespace: string,
  id: string,
  giveWay: () => Promise<void>,
): Promise<'right' | 'changed' | 'moved'> {
  const seen = context.state.read();
  const key = inNamespace(namespace, id);
  const range = { prefix: key };
  const children = { prefix: inNamespace(namespace), text: `${id}/` };
  const job = seen.table(jobs).get(...key);
  if (job === undefined) return 'right';
  const recount = await recountOf(seen, job, giveWay);
  const { value } = await context.state.write((transaction) => {
    const indexes = [
      transaction.table(jobs).get(...key)?.ModifyIndex ?? Number.POSITIVE_INFINITY,
      transaction.table(jobSummaries).lastIndex(range),
      transaction.table(jobs).lastIndex(children),
      transaction.table(allocations).by('job').lastIndex(range),
    ];
    if (Math.max(...indexes) > seen.index) return 'moved' as const;
    const stored = transaction.table(jobSummaries).get(...key);
    const summary = withRecount(summaryFor(job, stored), recount);
    if (isSame(summary, stored)) return 'right' as const;
    transaction.table(jobSummaries).put(summary);
    return 'changed' as const;
  });
  return value;
}

async function recountOf(
  seen: Snapshot,
  { Namespace, ID, CreateIndex }: Job,
  giveWay: () => Promise<void>,
): Promise<Recount> {
  const groups = new Map<string, Map<ClientStatus, number>>();
  const range = { prefix: inNamespace(Namespace, ID) };
  for (const one of seen.table(allocations).by('job').scan(range)) {
    await giveWay();
    if (one.JobCreateIndex !== CreateIndex) continue;
    const counts = groups.get(one.TaskGroup) ?? new Map<ClientStatus, number>();
    counts.set(one.ClientStatus, (counts.get(one.ClientStatus) ?? 0) + 1);
    groups.set(one.TaskGroup, counts);
  }
  const statuses: JobStatus[] = [];
  const below = { prefix: inNamespace(Namespace), text: `${ID}/` };
  for (const child of seen.table(jobs).scan(below)) {
    if (child.ParentID === ID) statuses.push(child.Status);
  }
  return { groups, children: countsOfChildren(statuses) };
}
