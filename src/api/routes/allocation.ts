import { allocationEndpoints as contract, type stubQuery } from '../../contract/allocation.ts';
import type { QueryValues } from '../../contract/query.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { allocationStub } from '../../model/allocation/allocation-stub.ts';
import { wholeAllocation } from '../../model/allocation/present.ts';
import { refusal } from '../../model/errors.ts';
import type { Job } from '../../model/job/job.ts';
import { stopAllocation } from '../../server/allocations/stop.ts';
import type { ServerContext } from '../../server/context.ts';
import { allocations, inNamespace, jobs, jobVersions, numberPart } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { oldestFirst } from '../oldest-first.ts';
import type { BaseInput, Route } from '../route.ts';
import { serveList, serveRead, serveWrite } from '../serve.ts';

/** Ids are unique across namespaces. @throws RosterError `allocation-not-found` */
export function allocationById(snapshot: Snapshot, id: string): Allocation {
  const found = findAllocation(snapshot, id);
  if (found === undefined) throw refusal('allocation-not-found', { id });
  return found;
}

export function findAllocation(snapshot: Snapshot, id: string): Allocation | undefined {
  if (id === '') return undefined;
  for (const row of snapshot
    .table(allocations)
    .by('id')
    .scan({ prefix: [id] })) {
    return row;
  }
  return undefined;
}

/** The row that the permission depends on. */
export const allocationIn = ({
  parameters,
  unwatched,
}: Pick<BaseInput, 'parameters' | 'unwatched'>) => findAllocation(unwatched, parameters.alloc_id!);

export const jobType = (snapshot: Snapshot, { Namespace, JobID }: Allocation) =>
  snapshot.table(jobs).get(...inNamespace(Namespace, JobID))?.Type ?? '';

/**
 * The job version that the allocation runs; null if it is gone, or belongs to another registration.
 */
export function jobOf(snapshot: Snapshot, allocation: Allocation): Job | null {
  const { Namespace, JobID, JobVersion, JobCreateIndex } = allocation;
  const key = inNamespace(Namespace, JobID, numberPart(JobVersion));
  const version = snapshot.table(jobVersions).get(...key);
  return version?.CreateIndex === JobCreateIndex ? version : null;
}

export const stubOptions = (query: QueryValues<typeof stubQuery>) => ({
  resources: query.resources,
  taskStates: query.task_states,
});

/** Source: docs/behaviour/allocations.md#lists-of-allocations. */
export function allocationRoutes(server: ServerContext): Route[] {
  return [
    ...serveList(contract.list, {
      ...oldestFirst(allocations),
      matches: (allocation, { query }) => allocation.ID.startsWith(query.prefix),
      present: (allocation, { query, unwatched }) =>
        allocationStub(allocation, jobType(unwatched, allocation), stubOptions(query)),
    }),
    ...serveRead(
      contract.read,
      ({ parameters, snapshot, unwatched }) => {
        const allocation = allocationById(snapshot, parameters.alloc_id!);
        return wholeAllocation(allocation, jobOf(unwatched, allocation));
      },
      { found: allocationIn },
    ),
    ...serveWrite(
      contract.stop,
      async ({ parameters, query }) => {
        const { index, evaluationId } = await stopAllocation(server, parameters.alloc_id!, {
          noShutdownDelay: query.no_shutdown_delay,
          reschedule: query.reschedule,
        });
        return { index, value: { EvalID: evaluationId, Index: index } };
      },
      { found: allocationIn },
    ),
  ];
}
