import type { Steps } from '../../base/steps.ts';
import { explanationEndpoints as contract } from '../../contract/explanation.ts';
import { refusal } from '../../model/errors.ts';
import { groupNamed } from '../../model/job/job-rules.ts';
import { limits } from '../../model/limits.ts';
import { namedAccess } from '../../model/permission/permission.ts';
import { explainAllocation } from '../../server/explanations/allocation.ts';
import { explainJob } from '../../server/explanations/job.ts';
import { configurationFor } from '../../server/scheduler-configuration/read.ts';
import { clusterView } from '../../server/scheduling/cluster-view.ts';
import type { Server } from '../../server/server.ts';
import { SlicedQueue } from '../../server/sliced-queue.ts';
import { evaluations, inNamespace, jobSummaries, jobs, nodes } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { gone, readAnswer } from '../answers.ts';
import type { Answer } from '../http.ts';
import type { BaseInput, Route, StreamInput } from '../route.ts';
import { type InputOf, serveStream } from '../serve.ts';
import { allocationById, allocationIn } from './allocation.ts';

/**
 * Explanations of scheduling decisions, for callers who may read the job. An explanation names only
 * the nodes that the caller may read, because free resources of a node reveal its other work; other
 * nodes are only counted. Source: docs/behaviour/scheduling.md#explanations.
 */
export function explainRoutes(server: Server): Route[] {
  const { world, state } = server.context;
  const queue = new SlicedQueue(world, {
    sizeMax: limits.scheduler.explanationsMax,
    full: (limit) => refusal('too-many-explanations', { limit }),
  });

  /** Runs the steps on the newest state when it is their turn. */
  async function answer<T>(
    input: Pick<StreamInput, 'query' | 'dialect' | 'contact'>,
    signal: AbortSignal,
    steps: (snapshot: Snapshot) => Steps<T>,
  ): Promise<Answer> {
    let index = 0;
    const begin = () => {
      const snapshot = state.read();
      index = snapshot.index;
      return steps(snapshot);
    };
    const value = await queue.run(begin, signal);
    if (value === undefined) return gone;
    const { pretty = false } = input.query as { readonly pretty?: boolean };
    return readAnswer({
      dialect: input.dialect,
      footprint: { index },
      pretty,
      value,
      contact: input.contact(),
    });
  }

  return [
    ...serveStream(
      contract.why,
      async (input, signal) => {
        const { ID } = allocationById(input.unwatched, input.parameters.alloc_id!);
        return answer(input, signal, (snapshot) => {
          const allocation = allocationById(snapshot, ID);
          const view = viewOf(server, snapshot, allocation);
          const asking = { view, mayRead: mayRead(input) };
          return explainAllocation(asking, allocation, server.decisions.find(ID));
        });
      },
      { found: allocationIn },
    ),
    ...serveStream(
      contract.whyNot,
      async (input, signal) => {
        return answer(input, signal, (snapshot) => prospectOf(server, snapshot, input));
      },
      { found: ({ query, unwatched }) => unwatched.table(nodes).get(query.node) },
    ),
  ];
}

const viewOf = (server: Server, snapshot: Snapshot, { Namespace, JobID }: Placed) =>
  clusterView(snapshot, configurationFor(snapshot, { Namespace, JobID }, server.schedulerDefaults));

interface Placed {
  readonly Namespace: string;
  readonly JobID: string;
}

/** @throws RosterError for a missing job, group or node */
function prospectOf(server: Server, snapshot: Snapshot, input: InputOf<typeof contract.whyNot>) {
  const { namespace, parameters, query } = input;
  const { job_id: id } = parameters;
  const job = snapshot.table(jobs).get(...inNamespace(namespace, id));
  if (job === undefined) throw refusal('job-not-found', { job: id, namespace });
  const group = query.group || undefined;
  if (group !== undefined && groupNamed(job, group) === undefined) {
    throw refusal('group-not-found', { job: id, group });
  }
  if (query.node !== '' && !snapshot.table(nodes).has(query.node)) {
    throw refusal('node-not-found', { id: query.node });
  }
  return explainJob({
    view: viewOf(server, snapshot, { Namespace: namespace, JobID: id }),
    mayRead: mayRead(input),
    nowMs: server.context.world.clock.nowMs(),
    job,
    group,
    nodeId: query.node || undefined,
    evaluations: evaluationsOf(snapshot, namespace, id),
    queued: queuedOf(snapshot, namespace, id),
  });
}

const evaluationsOf = (snapshot: Snapshot, namespace: string, id: string) => [
  ...snapshot
    .table(evaluations)
    .by('job')
    .scan({ prefix: inNamespace(namespace, id) }),
];

function queuedOf(snapshot: Snapshot, namespace: string, id: string) {
  const { Summary = {} } = snapshot.table(jobSummaries).get(...inNamespace(namespace, id)) ?? {};
  return new Map(Object.entries(Summary).map(([group, { Queued }]) => [group, Queued]));
}

/** Remembers decisions, because explanations ask about each node and names repeat. */
function mayRead({ allows }: Pick<BaseInput, 'allows'>): (nodeName: string) => boolean {
  const known = new Map<string, boolean>();
  return (name) => {
    const verdict = known.get(name) ?? allows(namedAccess('node', 'read', name));
    known.set(name, verdict);
    return verdict;
  };
}
