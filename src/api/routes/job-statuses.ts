import type { BodyOf } from '../../contract/endpoint.ts';
import { jobStatusesEndpoints as contract } from '../../contract/job-statuses.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { type Deployment, isTerminalDeployment } from '../../model/deployment/deployment.ts';
import { invalid } from '../../model/errors.ts';
import type { Job } from '../../model/job/job.ts';
import { isEvaluated, totalCount } from '../../model/job/job-rules.ts';
import type { JobStatuses } from '../../model/job/job-statuses.ts';
import { limits } from '../../model/limits.ts';
import { defaultPartition, everyNamespace } from '../../model/namespace/namespace.ts';
import {
  allocations,
  deployments,
  inNamespace,
  jobs,
  namespaces,
  numberPart,
} from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { isWithin } from '../oldest-first.ts';
import type { BaseInput, Following, PageStart, Route } from '../route.ts';
import { type InputOf, serveList } from '../serve.ts';

/**
 * Jobs with their allocations and latest deployment, the most recently changed first, for a page of
 * jobs. Source: docs/behaviour/jobs.md#statuses-of-several-jobs.
 */
export function jobStatusesRoutes(): Route[] {
  const list = {
    rows: (input: Given, page: PageStart) => {
      const { Jobs } = selectionOf(input);
      if (!Jobs || Jobs.length === 0) return newest(input, page);
      const { statusesMax } = limits.job;
      if (Jobs.length <= statusesMax) return selected(input, Jobs);
      const message = `Jobs names ${Jobs.length} jobs; at most ${statusesMax} are told of at once`;
      throw invalid('invalid-body', [{ pointer: '/Jobs', message }]);
    },
    follows: (input: Given) => (input.query.job === '' ? followingOf(input) : undefined),
    keyOf: (job: Job) => [numberPart(job.ModifyIndex), job.Namespace, job.ID],
    matches: (job: Job, input: Given) => {
      const { Jobs, IncludeChildren } = selectionOf(input);
      const isEvery = (IncludeChildren ?? input.query.include_children) || input.query.job !== '';
      return job.ParentID === '' || isEvery || (Jobs ?? []).length > 0;
    },
    present: (job: Job, { snapshot }: Given) => statusesOf(snapshot, job),
  };
  return [...serveList(contract.statuses, list), ...serveList(contract.statusesOf, list)];
}

function followingOf({ namespace }: Given): Following<Job> {
  const nameOf = (Namespace: string, ID: string) => JSON.stringify([Namespace, ID]);
  return {
    table: jobs.name,
    order: 'down',
    isIn: (job) => isWithin(job, namespace),
    texts: {
      nameOf: ({ Namespace, ID }) => nameOf(Namespace, ID),
      shownIn: ({ table, before, after }) => {
        if (table === jobs.name) {
          const { Namespace, ParentID } = (after ?? before) as Job;
          return ParentID === '' ? undefined : nameOf(Namespace, ParentID);
        }
        if (table !== allocations.name && table !== deployments.name) return undefined;
        const { Namespace, JobID } = (after ?? before) as Allocation | Deployment;
        return nameOf(Namespace, JobID);
      },
      readRanges: (snapshot) => {
        const whole = namespace === everyNamespace ? [defaultPartition] : inNamespace(namespace);
        snapshot.table(allocations).lastIndex({ prefix: whole });
        snapshot.table(deployments).lastIndex({ prefix: whole });
      },
    },
  };
}

type Selection = BodyOf<typeof contract.statusesOf>;
type Given = Omit<InputOf<typeof contract.statuses>, 'body'> & {
  readonly body: Selection | undefined;
};

/** A watch of a single job looks at no other job. */
const selectionOf = ({ body, query }: Given): Selection => {
  if (query.job === '') return body ?? {};
  return { ...body, Jobs: [{ ID: query.job, Namespace: '' }] };
};

function* selected(scope: BaseInput, wanted: NonNullable<Selection['Jobs']>): Iterable<Job> {
  for (const one of wanted) {
    const { ID, Namespace } = { ID: one?.ID ?? '', Namespace: one?.Namespace ?? '' };
    const place = Namespace === '' ? scope.namespace : Namespace;
    // NUL separates the parts of a key in the state.
    if (ID.includes('\0') || place.includes('\0')) continue;
    const job = scope.snapshot.table(jobs).get(...inNamespace(place, ID));
    if (job !== undefined) yield job;
  }
}

/** Merges the jobs of all namespaces by their last change. */
function* newest({ namespace, snapshot }: BaseInput, { from, reverse }: PageStart): Iterable<Job> {
  const modified = snapshot.table(jobs).by('modified');
  const [part = '', ofNamespace = '', id = ''] = from ?? [];
  const heads = namesOf(snapshot, namespace).map((name) => {
    const start = [...inNamespace(name, part), ...inNamespace(ofNamespace, id)];
    const range = { prefix: inNamespace(name), ...(from && { from: start }) };
    const rows = modified.scan({ ...range, reverse: !reverse });
    return { rows, next: rows.next() };
  });
  const goesFirst = (left: Job, right: Job): boolean => {
    const [lower, higher] = reverse ? [left, right] : [right, left];
    if (lower.ModifyIndex !== higher.ModifyIndex) return lower.ModifyIndex < higher.ModifyIndex;
    return lower.Namespace < higher.Namespace;
  };
  for (;;) {
    let best: (typeof heads)[number] | undefined;
    for (const head of heads) {
      if (head.next.done) continue;
      if (best === undefined || goesFirst(head.next.value, best.next.value)) best = head;
    }
    if (best === undefined) return;
    yield best.next.value;
    best.next = best.rows.next();
  }
}

const namesOf = (snapshot: Snapshot, namespace: string): readonly string[] =>
  namespace === everyNamespace
    ? [...snapshot.table(namespaces).scan({ prefix: [defaultPartition] })].map(({ Name }) => Name)
    : [namespace];

function statusesOf(snapshot: Snapshot, job: Job): JobStatuses {
  const range = { prefix: inNamespace(job.Namespace, job.ID) };
  const ofJob = [...snapshot.table(allocations).by('job').scan(range)];
  let latest: Deployment | undefined;
  for (const one of snapshot.table(deployments).by('job').scan(range)) {
    if (one.JobCreateIndex !== job.CreateIndex) continue;
    if (latest === undefined || one.CreateIndex >= latest.CreateIndex) latest = one;
  }
  return {
    ID: job.ID,
    Namespace: job.Namespace,
    Name: job.Name,
    Type: job.Type,
    NodePool: job.NodePool,
    Datacenters: job.Datacenters,
    Priority: job.Priority,
    Version: job.Version,
    SubmitTime: job.SubmitTime,
    ModifyIndex: job.ModifyIndex,
    Status: job.Status,
    Stop: job.Stop,
    ParentID: job.ParentID,
    IsPack: Object.hasOwn(job.Meta ?? {}, 'pack.name'),
    GroupCountSum: totalCount(job),
    Allocs: ofJob.filter((one) => one.JobCreateIndex === job.CreateIndex).map(shownAllocation),
    ChildStatuses: isEvaluated(job) ? null : childStatuses(snapshot, job),
    LatestDeployment: latest === undefined ? null : shownDeployment(latest),
  };
}

const shownAllocation = (allocation: Allocation): JobStatuses['Allocs'][number] => ({
  ID: allocation.ID,
  Group: allocation.TaskGroup,
  ClientStatus: allocation.ClientStatus,
  NodeID: allocation.NodeID,
  DeploymentStatus: {
    Canary: allocation.DeploymentStatus?.Canary ?? false,
    Healthy: allocation.DeploymentStatus?.Healthy ?? null,
  },
  JobVersion: allocation.JobVersion,
  FollowupEvalID: allocation.FollowupEvalID,
  // Tasks cannot be paused.
  HasPausedTask: false,
});

function childStatuses(snapshot: Snapshot, { Namespace, ID }: Job): Job['Status'][] {
  const below = { prefix: inNamespace(Namespace), text: `${ID}/` };
  const children = [...snapshot.table(jobs).scan(below)].filter(({ ParentID }) => ParentID === ID);
  return children.map(({ Status }) => Status);
}

function shownDeployment(deployment: Deployment): NonNullable<JobStatuses['LatestDeployment']> {
  const groups = Object.values(deployment.TaskGroups);
  const canarying = groups.filter(({ DesiredCanaries }) => DesiredCanaries > 0);
  const isActive = !isTerminalDeployment(deployment);
  return {
    ID: deployment.ID,
    IsActive: isActive,
    JobVersion: deployment.JobVersion,
    Status: deployment.Status,
    StatusDescription: deployment.StatusDescription,
    AllAutoPromote: canarying.length > 0 && canarying.every(({ AutoPromote }) => AutoPromote),
    RequiresPromotion: isActive && canarying.some(({ Promoted }) => !Promoted),
  };
}
