import type { Allocation } from '../model/allocation/allocation.ts';
import { AllocationSchema } from '../model/allocation/allocation.ts';
import type { AllocationStub } from '../model/allocation/allocation-stub.ts';
import { AllocationStubSchema } from '../model/allocation/allocation-stub.ts';
import type { WholeAllocation } from '../model/allocation/present.ts';
import { WholeAllocationSchema } from '../model/allocation/present.ts';
import { anyOf, namespaceCapability, ownAllocation } from '../model/permission/permission.ts';
import { Text, Type, Whole } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import type { Asked } from './needs.ts';
import { capability, decided, listing } from './needs.ts';
import { idPrefix, type QueryTable } from './query.ts';

/** The parts of an allocation that a list shows. */
export const stubQuery = {
  resources: { kind: 'boolean', default: false, description: 'Include AllocatedResources.' },
  task_states: { kind: 'boolean', default: true, description: 'Include TaskStates.' },
} as const satisfies QueryTable;

type Found = Pick<Allocation, 'Namespace'> | undefined;

/** The permission is asked for in the allocation's own namespace; without an allocation, in the request's. */
export const inItsNamespace = (...capabilities: readonly string[]) =>
  decided(
    `${capabilities.map((one) => `\`namespace:${one}\``).join(' or ')} in the namespace of the allocation`,
    ({ namespace }: Asked, found: Found) => {
      const own = capabilities.map((one) =>
        namespaceCapability(found?.Namespace ?? namespace, one),
      );
      return own.length === 1 ? own[0]! : anyOf(...own);
    },
  );

/** Whoever may read jobs in its namespace may read it, and its own tasks may. */
const mayRead = decided(
  '`namespace:read-job` in the namespace of the allocation, or the token of one of its own tasks',
  ({ namespace, caller, parameters }: Asked, found: Found) => {
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
      methods: ['GET'],
      path: '/v1/allocations',
      summary: 'List allocations, those of each namespace the oldest first',
      blocking: true,
      query: {
        ...idPrefix,
        ...stubQuery,
      },
      answer: typed<AllocationStub>(AllocationStubSchema),
      filter: AllocationSchema,
      permission: listing(capability('read-job')),
    },
    read: {
      kind: 'read',
      methods: ['GET'],
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
    },
  },
);
