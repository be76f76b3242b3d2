/** The counters of a job. Source: docs/behaviour/jobs.md#summary-counters. */
import type { Allocation, ClientStatus } from '../allocation/allocation.ts';
import type { Job, JobStatus } from '../job/job.ts';
import { isSame } from '../same.ts';
import type { ChildrenSummary, GroupSummary, JobSummary } from './job-summary.ts';

const emptyGroup: GroupSummary = {
  Queued: 0,
  Complete: 0,
  Failed: 0,
  Running: 0,
  Starting: 0,
  Lost: 0,
  Unknown: 0,
};

const counterOf: Readonly<Record<ClientStatus, keyof GroupSummary>> = {
  pending: 'Starting',
  running: 'Running',
  complete: 'Complete',
  failed: 'Failed',
  lost: 'Lost',
  unknown: 'Unknown',
};

/** These counters tell a history, so they only rise. */
const neverFalls: ReadonlySet<keyof GroupSummary> = new Set(['Complete', 'Failed']);

/**
 * The counters of a registered job: every group is there, and groups of earlier versions stay. Groups that
 * the job no longer wants have no queued allocations.
 */
export function summaryFor(
  job: Pick<Job, 'ID' | 'Namespace' | 'CreateIndex'> & Wanting,
  previous?: JobSummary,
): JobSummary {
  const kept = previous?.JobCreateIndex === job.CreateIndex ? previous : undefined;
  const wanted = wantedGroups(job);
  const earlier = Object.entries(kept?.Summary ?? {}).map(([name, group]) => [
    name,
    wanted.has(name) || group.Queued === 0 ? group : { ...group, Queued: 0 },
  ]);
  const added = job.TaskGroups.filter(({ Name }) => !kept || groupOf(kept, Name) === undefined);
  const groups = [...earlier, ...added.map(({ Name }) => [Name, emptyGroup])];
  return {
    JobID: job.ID,
    Namespace: job.Namespace,
    JobCreateIndex: job.CreateIndex,
    Summary: Object.fromEntries(groups),
    Children: kept?.Children ?? { Pending: 0, Running: 0, Dead: 0 },
    CreateIndex: kept?.CreateIndex ?? 0,
    ModifyIndex: kept?.ModifyIndex ?? 0,
  };
}

type Wanting = Pick<Job, 'Stop'> & {
  readonly TaskGroups: readonly { readonly Name: string }[];
};

/** Names of the groups of which the job wants allocations. */
const wantedGroups = ({ Stop, TaskGroups }: Wanting): ReadonlySet<string> =>
  new Set(Stop ? [] : TaskGroups.map(({ Name }) => Name));

type Counted = Pick<Allocation, 'TaskGroup' | 'ClientStatus' | 'JobCreateIndex'>;

/**
 * The counters after an allocation was placed (`before` is `undefined`) or changed. Returns the same object
 * if no counter changes: the allocation is of another registration, or keeps its client status.
 */
export function withAllocation(
  summary: JobSummary,
  before: Counted | undefined,
  after: Counted,
): JobSummary {
  if (after.JobCreateIndex !== summary.JobCreateIndex) return summary;
  if (before?.ClientStatus === after.ClientStatus) return summary;
  const group = { ...(groupOf(summary, after.TaskGroup) ?? emptyGroup) };
  if (before === undefined) group.Queued = Math.max(0, group.Queued - 1);
  else if (!neverFalls.has(counterOf[before.ClientStatus])) {
    const counter = counterOf[before.ClientStatus];
    group[counter] = Math.max(0, group[counter] - 1);
  }
  group[counterOf[after.ClientStatus]] += 1;
  return withGroup(summary, after.TaskGroup, group);
}

/**
 * The counters after an evaluation told how many allocations of each group are still to be placed. The
 * evaluation may have seen an earlier version of `job`.
 */
export function withQueued(
  summary: JobSummary,
  queued: Readonly<Record<string, number>>,
  job: Wanting,
): JobSummary {
  let result = summary;
  const wanted = wantedGroups(job);
  for (const [name, told] of Object.entries(queued)) {
    const group = groupOf(result, name) ?? emptyGroup;
    const count = wanted.has(name) ? told : 0;
    if (group.Queued !== count) result = withGroup(result, name, { ...group, Queued: count });
  }
  return result;
}

const childCounter: Readonly<Record<JobStatus, keyof ChildrenSummary>> = {
  pending: 'Pending',
  running: 'Running',
  dead: 'Dead',
};

/** The parent's counters after the status of a child changed; `before` is `undefined` for a new child. */
export function withChild(
  summary: JobSummary,
  before: JobStatus | undefined,
  after: JobStatus,
): JobSummary {
  if (before === after) return summary;
  const children = { ...summary.Children };
  if (before !== undefined) {
    children[childCounter[before]] = Math.max(0, children[childCounter[before]] - 1);
  }
  children[childCounter[after]] += 1;
  return { ...summary, Children: children };
}

/** Group names are the caller's, so a group may be called "constructor". */
const groupOf = (summary: JobSummary, name: string): GroupSummary | undefined =>
  Object.hasOwn(summary.Summary, name) ? summary.Summary[name] : undefined;

const withGroup = (summary: JobSummary, name: string, group: GroupSummary): JobSummary => ({
  ...summary,
  Summary: { ...summary.Summary, ...Object.fromEntries([[name, group]]) },
});

/** A count from scratch: allocations by group and client status, and children. */
export interface Recount {
  readonly groups: ReadonlyMap<string, ReadonlyMap<ClientStatus, number>>;
  readonly children: ChildrenSummary;
}

/**
 * The counters after a count from scratch. Counters of ended allocations never fall, since such allocations
 * may have been collected, and only evaluations know the queued ones. Returns the same object if no counter
 * changes.
 */
export function withRecount(summary: JobSummary, { groups, children }: Recount): JobSummary {
  const names = new Set([...Object.keys(summary.Summary), ...groups.keys()]);
  const Summary = Object.fromEntries(
    [...names].map((name) => {
      const group = { ...(groupOf(summary, name) ?? emptyGroup) };
      for (const [status, counter] of Object.entries(counterOf)) {
        const counted = groups.get(name)?.get(status as ClientStatus) ?? 0;
        group[counter] = neverFalls.has(counter) ? Math.max(group[counter], counted) : counted;
      }
      return [name, group];
    }),
  );
  const Children = { ...children, Dead: Math.max(summary.Children.Dead, children.Dead) };
  const recounted = { ...summary, Summary, Children };
  return isSame(recounted, summary) ? summary : recounted;
}

export const countsOfChildren = (statuses: Iterable<JobStatus>): ChildrenSummary => {
  const children = { Pending: 0, Running: 0, Dead: 0 };
  for (const status of statuses) children[childCounter[status]] += 1;
  return children;
};
