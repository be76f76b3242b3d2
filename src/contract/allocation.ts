import { AllocationSchema } from '../model/allocation/allocation.ts';
import { type AllocationStub, AllocationStubSchema } from '../model/allocation/allocation-stub.ts';
import { type WholeAllocation, WholeAllocationSchema } from '../model/allocation/present.ts';
import { anyOf, namespaceCapability, ownAllocation } from '../model/permission/permission.ts';
import { Text, Type, Whole } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { type Asked, capability, decided, type InNamespace, listing } from './needs.ts';
import { flag, idPrefix, type QueryTable } from './query.ts';
import { sortsOf } from './sorts.ts';

/** Optional parts of an allocation in a list. */
export const stubQuery = {
  resources: flag('Include AllocatedResources.'),
  task_states: { kind: 'boolean', default: true, description: 'Include TaskStates.' },
} as const satisfies QueryTable;

/**
 * The capability in the namespace of the allocation; if there is no such allocation, in that of the
 * request.
 */
export const inItsNamespace = (...capabilities: readonly string[]) =>
  decided(
    `${capabilities.map((one) => `\`namespace:${one}\``).join(' or ')} in the namespace of the allocation`,
    ({ namespace }: Asked, found: InNamespace | undefined) => {
      const own = capabilities.map((one) =>
        namespaceCapability(found?.Namespace ?? namespace, one),
      );
      return own.length === 1 ? own[0]! : anyOf(...own);
    },
  );

/** Readers of the namespace's jobs, and the allocation's own tasks. */
const mayRead = decided(
  '`namespace:read-job` in the namespace of the allocation, or the token of one of its own tasks',
  ({ namespace, caller, parameters }: Asked, found: InNamespace | undefined) => {
    const byCapability = namespaceCapability(found?.Namespace ?? namespace, 'read-job');
    if (caller.kind !== 'workload') return byCapability;
    return anyOf(byCapability, ownAllocation(caller.namespace, parameters.alloc_id!));
  },
);

export const allocationEndpoints = endpoints(
  { group: 'allocations', noun: 'allocation', family: 'scheduler' },
  {
    list: {
      kind: 'list',
      path: '/v1/allocations',
      summary: 'List allocations by namespace, the oldest first',
      blocking: true,
      query: {
        ...idPrefix,
        ...stubQuery,
      },
      answer: typed<AllocationStub>(AllocationStubSchema),
      filter: AllocationSchema,
      sorts: sortsOf.allocations,
      permission: listing(capability('read-job')),
    },
    read: {
      kind: 'read',
      path: '/v1/allocation/:alloc_id',
      summary: 'Read an allocation with the job version that it runs',
      blocking: true,
      answer: typed<WholeAllocation>(WholeAllocationSchema),
      permission: mayRead,
    },
    stop: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/allocation/:alloc_id/stop',
      summary: 'Stop an allocation; it is replaced if the job needs it',
      query: {
        no_shutdown_delay: flag('Do not wait for shutdown delays.'),
        reschedule: flag('Count the allocation as failed: another node is preferred.'),
      },
      answer: Type.Object({ EvalID: Text(), Index: Whole() }),
      permission: inItsNamespace('alloc-lifecycle'),
    },
  },
);
