import type { AllocationUsage } from '../model/allocation/resource-usage.ts';
import { AllocationUsageSchema } from '../model/allocation/resource-usage.ts';
import type { NodeUsage } from '../model/node/node-usage.ts';
import { NodeUsageSchema } from '../model/node/node-usage.ts';
import { Type } from '../model/schema.ts';
import { inItsNamespace } from './allocation.ts';
import { endpoints, typed } from './endpoint.ts';
import { onNode } from './node.ts';
import type { QueryTable } from './query.ts';

const nodeQuery = {
  node_id: {
    kind: 'string',
    default: '',
    description: 'The node; not needed where there is one only.',
  },
} as const satisfies QueryTable;

export const clientStatisticsEndpoints = endpoints(
  { group: 'client', noun: 'client', family: 'scheduler' },
  {
    allocationUsage: {
      kind: 'stream',
      methods: ['GET'],
      path: '/v1/client/allocation/:alloc_id/stats',
      summary: 'Tell what the tasks of an allocation use',
      answer: typed<AllocationUsage>(AllocationUsageSchema),
      permission: inItsNamespace('read-job'),
    },
    nodeUsage: {
      kind: 'stream',
      methods: ['GET'],
      path: '/v1/client/stats',
      summary: 'Tell what a node uses',
      query: nodeQuery,
      answer: typed<NodeUsage>(NodeUsageSchema),
      permission: onNode('read'),
    },
    collectAllocation: {
      kind: 'stream',
      methods: ['GET'],
      path: '/v1/client/allocation/:alloc_id/gc',
      summary: 'Remove an allocation that is over, with its files, from its node',
      answer: Type.Object({}),
      permission: inItsNamespace('submit-job', 'gc-allocation'),
    },
    collectNode: {
      kind: 'stream',
      methods: ['GET'],
      path: '/v1/client/gc',
      summary: 'Remove all allocations that are over, with their files, from a node',
      query: nodeQuery,
      answer: Type.Object({}),
      permission: onNode('write'),
    },
  },
);
