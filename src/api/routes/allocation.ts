import { type Allocation, AllocationSchema } from '../../model/allocation/allocation.ts';
import { AllocationStubSchema, allocationStub } from '../../model/allocation/allocation-stub.ts';
import { WholeAllocationSchema, wholeAllocation } from '../../model/allocation/present.ts';
import { refusal } from '../../model/errors.ts';
import type { Job } from '../../model/job/job.ts';
import { everyNamespace } from '../../model/namespace/namespace.ts';
import { anyOf, namespaceCapability, ownAllocation } from '../../model/permission/permission.ts';
import { Text, Type, Whole } from '../../model/schema.ts';
import { stopAllocation } from '../../server/allocations/stop.ts';
import type { ServerContext } from '../../server/context.ts';
import { allocations, inNamespace, jobs, jobVersions, numberPart } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { oldestFirst, prefixQuery } from '../oldest-first.ts';
import type { QueryTable, QueryValues } from '../query.ts';
import { listRoute, type Route, readRoute, type Scope, writeRoute } from '../route.ts';

/** Ids are unique over all namespaces. @throws RosterError `allocation-not-found` */
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

/** Whoever may read jobs in its namespace may read it, and its own tasks may. */
function mayRead(scope: Scope) {
  const byCapability = inItsNamespace('read-job')(scope);
  const id = scope.parameters.alloc_id!;
  if (scope.caller.kind !== 'workload') return byCapability;
  return anyOf(byCapability, ownAllocation(scope.caller.namespace, id));
}

/** What a caller needs is asked in the allocation's own namespace; that of none in the request's. */
export function inItsNamespace(capability: string) {
  return ({ parameters, namespace, unwatched }: Scope) => {
    const found = findAllocation(unwatched, parameters.alloc_id!);
    return namespaceCapability(found?.Namespace ?? namespace, capability);
  };
}

export const jobType = (snapshot: Snapshot, { Namespace, JobID }: Allocation) =>
  snapshot.table(jobs).get(...inNamespace(Namespace, JobID))?.Type ?? '';

/** The version of the job that the allocation runs, of the registration that made it. */
export function jobOf(snapshot: Snapshot, allocation: Allocation): Job | null {
  const { Namespace, JobID, JobVersion, JobCreateIndex } = allocation;
  const key = inNamespace(Namespace, JobID, numberPart(JobVersion));
  const version = snapshot.table(jobVersions).get(...key);
  return version?.CreateIndex === JobCreateIndex ? version : null;
}

/** What of an allocation a list shows. */
export const stubQuery = {
  resources: { kind: 'boolean', default: false, description: 'Include AllocatedResources.' },
  task_states: { kind: 'boolean', default: true, description: 'Include TaskStates.' },
} as const satisfies QueryTable;

export const stubOptions = (query: QueryValues<typeof stubQuery>) => ({
  resources: query.resources,
  taskStates: query.task_states,
});

/** Source: docs/behaviour/allocations.md#lists-of-allocations. */
export function allocationRoutes(server: ServerContext): Route[] {
  return [
    listRoute({
      method: 'GET',
      path: '/v1/allocations',
      noun: 'allocation',
      summary: 'List allocations, those of each namespace the oldest first',
      blocking: true,
      query: {
        ...prefixQuery,
        ...stubQuery,
      },
      answer: AllocationStubSchema,
      filterSchema: AllocationSchema,
      permission: ({ namespace }) =>
        namespace === everyNamespace
          ? { kind: 'open' }
          : namespaceCapability(namespace, 'read-job'),
      ...oldestFirst<Allocation>((snapshot) => snapshot.table(allocations)),
      matches: (allocation, { query }) => allocation.ID.startsWith(query.prefix),
      visible: (allocation) => namespaceCapability(allocation.Namespace, 'read-job'),
      present: (allocation, { query, unwatched }) =>
        allocationStub(allocation, jobType(unwatched, allocation), stubOptions(query)),
    }),
    readRoute({
      method: 'GET',
      path: '/v1/allocation/:alloc_id',
      noun: 'allocation',
      summary: 'Read an allocation with the job version that it runs',
      blocking: true,
      answer: WholeAllocationSchema,
      permission: mayRead,
      handle: ({ parameters, snapshot, unwatched }) => {
        const allocation = allocationById(snapshot, parameters.alloc_id!);
        return wholeAllocation(allocation, jobOf(unwatched, allocation));
      },
    }),
    ...(['PUT', 'POST'] as const).map((method) =>
      writeRoute({
        method,
        path: '/v1/allocation/:alloc_id/stop',
        noun: 'allocation',
        summary: 'Stop an allocation; another takes its place if the job wants it',
        query: {
          no_shutdown_delay: {
            kind: 'boolean',
            default: false,
            description: 'Do not wait for shutdown delays.',
          },
          reschedule: {
            kind: 'boolean',
            default: false,
            description: 'Count it as failed: another node is preferred.',
          },
        },
        answer: Type.Object({ EvalID: Text(), Index: Whole() }),
        permission: inItsNamespace('alloc-lifecycle'),
        handle: async ({ parameters, query }) => {
          const { index, evaluationId } = await stopAllocation(server, parameters.alloc_id!, {
            noShutdownDelay: query.no_shutdown_delay,
            reschedule: query.reschedule,
          });
          return { index, value: { EvalID: evaluationId, Index: index } };
        },
      }),
    ),
  ];
}
