import { JobSchema } from '../model/job/job.ts';
import type { JobStub } from '../model/job/job-stub.ts';
import { JobStubSchema } from '../model/job/job-stub.ts';
import { PresentedNodeSchema } from '../model/node/present.ts';
import type { NodePool } from '../model/node-pool/node-pool.ts';
import { NodePoolSchema } from '../model/node-pool/node-pool.ts';
import { Type } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { capability, every, listing, nothing } from './needs.ts';
import { type NodeListItem, nodeListQuery, readSomeNode } from './node.ts';

const onPool = (access: 'read' | 'write' | 'delete') =>
  ({ kind: 'named', resource: 'node_pool', access, name: 'from-path:name' }) as const;

export const nodePoolEndpoints = endpoints(
  { group: 'node-pools', noun: 'node pool', family: 'scheduler' },
  {
    list: {
      kind: 'list',
      methods: ['GET'],
      path: '/v1/node/pools',
      summary: 'List the node pools that the caller may read',
      blocking: true,
      query: {
        prefix: { kind: 'string', default: '', description: 'The beginning of the name.' },
      },
      answer: typed<NodePool>(NodePoolSchema),
      filter: NodePoolSchema,
      permission: nothing,
    },
    read: {
      kind: 'read',
      methods: ['GET'],
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
      body: { schema: NodePoolSchema, unknown: 'refuse' },
      answer: typed<NodePool>(NodePoolSchema),
      permission: { ...onPool('write'), name: 'from-body:Name' },
    },
    write: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/node/pool/:name',
      summary: 'Create or replace a node pool',
      body: { schema: NodePoolSchema, unknown: 'refuse' },
      answer: typed<NodePool>(NodePoolSchema),
      permission: onPool('write'),
    },
    delete: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/node/pool/:name',
      summary: 'Delete a node pool that nothing is in',
      answer: Type.Boolean(),
      permission: onPool('delete'),
    },
    nodes: {
      kind: 'list',
      methods: ['GET'],
      path: '/v1/node/pool/:name/nodes',
      summary: 'List the nodes of a pool',
      blocking: true,
      query: nodeListQuery,
      answer: typed<NodeListItem>(PresentedNodeSchema),
      filter: PresentedNodeSchema,
      permission: every(onPool('read'), readSomeNode),
    },
    jobs: {
      kind: 'list',
      methods: ['GET'],
      path: '/v1/node/pool/:name/jobs',
      summary: 'List the jobs that want the nodes of a pool',
      blocking: true,
      answer: typed<JobStub>(JobStubSchema),
      filter: JobSchema,
      permission: every(onPool('read'), listing(capability('list-jobs'))),
    },
  },
);
