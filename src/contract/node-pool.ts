import { JobSchema } from '../model/job/job.ts';
import { type JobStub, JobStubSchema } from '../model/job/job-stub.ts';
import { PresentedNodeSchema } from '../model/node/present.ts';
import { type NodePool, NodePoolSchema } from '../model/node-pool/node-pool.ts';
import { Type } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { capability, every, listing, nothing } from './needs.ts';
import { type NodeListItem, nodeListQuery, readSomeNode, readThatNode } from './node.ts';
import { namePrefix } from './query.ts';

const onPool = (access: 'read' | 'write' | 'delete') =>
  ({ kind: 'named', resource: 'node_pool', access, name: 'from-path:name' }) as const;

const body = {
  example: { Name: 'gpu', Description: 'Nodes with GPUs' },
  schema: NodePoolSchema,
  unknown: 'refuse',
} as const;

export const nodePoolEndpoints = endpoints(
  { group: 'node-pools', noun: 'node pool', family: 'scheduler' },
  {
    list: {
      kind: 'list',
      path: '/v1/node/pools',
      summary: 'List the node pools that the caller may read',
      blocking: true,
      query: namePrefix,
      answer: typed<NodePool>(NodePoolSchema),
      filter: NodePoolSchema,
      permission: nothing,
      visible: { kind: 'named', resource: 'node_pool', access: 'read', name: 'from-row:Name' },
    },
    read: {
      kind: 'read',
      path: '/v1/node/pool/:name',
      summary: 'Read a node pool',
      blocking: true,
      answer: typed<NodePool>(NodePoolSchema),
      permission: onPool('read'),
    },
    create: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/node/pools',
      summary: 'Create or replace a node pool',
      body,
      answer: typed<NodePool>(NodePoolSchema),
      permission: { ...onPool('write'), name: 'from-body:Name' },
    },
    write: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/node/pool/:name',
      summary: 'Create or replace a node pool',
      body,
      answer: typed<NodePool>(NodePoolSchema),
      permission: onPool('write'),
    },
    delete: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/node/pool/:name',
      summary: 'Delete an empty node pool',
      answer: Type.Boolean(),
      permission: onPool('delete'),
    },
    nodes: {
      kind: 'list',
      path: '/v1/node/pool/:name/nodes',
      summary: 'List the nodes of a pool',
      blocking: true,
      query: nodeListQuery,
      answer: typed<NodeListItem>(PresentedNodeSchema),
      filter: PresentedNodeSchema,
      permission: every(onPool('read'), readSomeNode),
      visible: readThatNode,
    },
    jobs: {
      kind: 'list',
      path: '/v1/node/pool/:name/jobs',
      summary: 'List the jobs of a pool',
      blocking: true,
      answer: typed<JobStub>(JobStubSchema),
      filter: JobSchema,
      permission: every(onPool('read'), listing(capability('list-jobs'))),
    },
  },
);
