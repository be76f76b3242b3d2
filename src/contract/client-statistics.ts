import { type AllocationUsage, AllocationUsageSchema } from '../model/allocation/resource-usage.ts';
import { type NodeUsage, NodeUsageSchema } from '../model/node/node-usage.ts';
import { Type } from '../model/schema.ts';
import { inItsNamespace } from './allocation.ts';
import { endpoints, typed } from './endpoint.ts';
import { resource } from './needs.ts';
import { onNode } from './node.ts';
import { type QueryTable, text } from './query.ts';

const nodeQuery = {
  node_id: text('The node; optional if there is only one.'),
} as const satisfies QueryTable;

export const clientStatisticsEndpoints = endpoints(
  { group: 'client', noun: 'client', family: 'scheduler' },
  {
    allocationUsage: {
      kind: 'stream',
      path: '/v1/client/allocation/:alloc_id/stats',
      summary: "Read the resource usage of an allocation's tasks",
      answer: typed<AllocationUsage>(AllocationUsageSchema),
      permission: inItsNamespace('read-job'),
    },
    nodeUsage: {
      kind: 'stream',
      path: '/v1/client/stats',
      summary: 'Read the resource usage of a node',
      query: nodeQuery,
      answer: typed<NodeUsage>(NodeUsageSchema),
      permission: onNode('read'),
    },
    nodeMetrics: {
      kind: 'stream',
      path: '/v1/client/metrics',
      summary: 'Read the metrics of a node and of the tasks on it, for Prometheus',
      query: {
        ...nodeQuery,
        format: text(
          '`prometheus`, `openmetrics` or `json`. By default OpenMetrics where the header `Accept` asks for it, else Prometheus.',
        ),
      },
      permission: resource('agent', 'read'),
    },
    collectAllocation: {
      kind: 'stream',
      path: '/v1/client/allocation/:alloc_id/gc',
      summary: 'Remove a terminal allocation and its files from its node',
      answer: Type.Object({}),
      permission: inItsNamespace('submit-job', 'gc-allocation'),
    },
    collectNode: {
      kind: 'stream',
      path: '/v1/client/gc',
      summary: 'Remove all terminal allocations and their files from a node',
      query: nodeQuery,
      answer: Type.Object({}),
      permission: onNode('write'),
    },
  },
);
