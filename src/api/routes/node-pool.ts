import type { Job } from '../../model/job/job.ts';
import { JobSchema } from '../../model/job/job.ts';
import { JobStubSchema, jobStub } from '../../model/job/job-stub.ts';
import { defaultPartition, everyNamespace } from '../../model/namespace/namespace.ts';
import type { Node } from '../../model/node/node.ts';
import { PresentedNodeSchema, presentNode } from '../../model/node/present.ts';
import {
  everyNode,
  type NodePool,
  type NodePoolRequest,
  NodePoolSchema,
} from '../../model/node-pool/node-pool.ts';
import {
  allOf,
  namedAccess,
  namespaceCapability,
  type Permission,
} from '../../model/permission/permission.ts';
import { Type } from '../../model/schema.ts';
import { deleteNodePool, requireNodePool, writeNodePool } from '../../server/nodes/pools.ts';
import type { Server } from '../../server/server.ts';
import { inNamespace, jobSummaries, jobs, nodePools, nodes } from '../../state/tables.ts';
import { type Input, listRoute, type Route, readRoute, type Scope, writeRoute } from '../route.ts';
import { nodeListQuery, nodeStub, readThatNode } from './node.ts';

const noun = 'node pool';
const onPool =
  (access: 'read' | 'write' | 'delete') =>
  ({ parameters }: Scope): Permission =>
    namedAccess('node_pool', access, parameters.name!);
const readPool = onPool('read');

/** Source: docs/behaviour/nodes.md#node-pools. */
export function nodePoolRoutes({ context }: Server): Route[] {
  return [
    listRoute({
      ...{ method: 'GET', path: '/v1/node/pools', noun },
      summary: 'List the node pools that the caller may read',
      blocking: true,
      query: {
        prefix: { kind: 'string', default: '', description: 'The beginning of the name.' },
      },
      answer: NodePoolSchema,
      filterSchema: NodePoolSchema,
      permission: () => ({ kind: 'open' }),
      visible: ({ Name }: NodePool) => namedAccess('node_pool', 'read', Name),
      asksEach: true,
      rows: ({ query, snapshot }, { from, reverse }) =>
        snapshot.table(nodePools).scan({ text: query.prefix, ...(from && { from }), reverse }),
      keyOf: ({ Name }) => [Name],
      present: (pool) => pool,
    }),
    readRoute({
      ...{ method: 'GET', path: '/v1/node/pool/:name', noun },
      summary: 'Read a node pool',
      blocking: true,
      answer: NodePoolSchema,
      permission: readPool,
      handle: ({ parameters, snapshot }) => {
        requireNodePool(snapshot, parameters.name!);
        return snapshot.table(nodePools).get(parameters.name!);
      },
    }),
    ...(['PUT', 'POST'] as const).flatMap((method) => [
      writeRoute({
        ...{ method, path: '/v1/node/pools', noun, answer: NodePoolSchema },
        summary: 'Create or replace a node pool',
        body: { schema: NodePoolSchema, unknown: 'refuse' },
        permission: ({ body }: PoolInput) => namedAccess('node_pool', 'write', body.Name ?? ''),
        handle: ({ body }) => writeNodePool(context, '', body),
      }),
      writeRoute({
        ...{ method, path: '/v1/node/pool/:name', noun, answer: NodePoolSchema },
        summary: 'Create or replace a node pool',
        body: { schema: NodePoolSchema, unknown: 'refuse' },
        permission: onPool('write'),
        handle: ({ parameters, body }: PoolInput) => writeNodePool(context, parameters.name!, body),
      }),
    ]),
    writeRoute({
      ...{ method: 'DELETE', path: '/v1/node/pool/:name', noun },
      summary: 'Delete a node pool that nothing is in',
      answer: Type.Boolean(),
      permission: onPool('delete'),
      handle: ({ parameters }) => deleteNodePool(context, parameters.name!),
    }),
    poolNodes(),
    poolJobs(),
  ];
}

type PoolInput = Input<Record<never, never>, NodePoolRequest>;

/** One that is missing is waited for; what else changes of it is none of its lists'. */
function poolOf({ parameters, snapshot, unwatched }: Scope): string {
  const name = parameters.name!;
  requireNodePool(unwatched.table(nodePools).has(name) ? unwatched : snapshot, name);
  return name;
}

const poolNodes = (): Route =>
  listRoute({
    ...{ method: 'GET', path: '/v1/node/pool/:name/nodes', noun },
    summary: 'List the nodes of a pool',
    blocking: true,
    query: nodeListQuery,
    answer: PresentedNodeSchema,
    filterSchema: PresentedNodeSchema,
    record: presentNode,
    permission: (scope) =>
      allOf(readPool(scope), namedAccess('node', 'read', '', { extent: 'any' })),
    visible: readThatNode,
    asksEach: true,
    rows: (input, { from, reverse }) => {
      const { query, snapshot } = input;
      const pool = poolOf(input);
      const page = { text: query.prefix, reverse };
      if (pool === everyNode) {
        return snapshot.table(nodes).scan({ ...page, ...(from && { from: from.slice(1) }) });
      }
      return snapshot
        .table(nodes)
        .by('pool')
        .scan({ ...page, prefix: [pool], ...(from && { from }) });
    },
    keyOf: ({ NodePool: pool, ID }: Node) => [pool, ID],
    present: (node, { query }) => nodeStub(node, query),
  });

const poolJobs = (): Route =>
  listRoute({
    ...{ method: 'GET', path: '/v1/node/pool/:name/jobs', noun },
    summary: 'List the jobs that want the nodes of a pool',
    blocking: true,
    answer: JobStubSchema,
    filterSchema: JobSchema,
    permission: (scope) =>
      scope.namespace === everyNamespace
        ? readPool(scope)
        : allOf(readPool(scope), namespaceCapability(scope.namespace, 'list-jobs')),
    visible: ({ Namespace }: Job) => namespaceCapability(Namespace, 'list-jobs'),
    rows: (input, { from, reverse }) => {
      const { namespace, snapshot } = input;
      const pool = poolOf(input);
      const isEvery = namespace === everyNamespace;
      // The counters are part of the answer: noted as one range, not job by job.
      const counted = isEvery ? [defaultPartition] : inNamespace(namespace);
      snapshot.table(jobSummaries).lastIndex({ prefix: counted });
      const prefix = isEvery ? [pool] : [pool, ...inNamespace(namespace)];
      return snapshot
        .table(jobs)
        .by('pool')
        .scan({ prefix, ...(from && { from }), reverse });
    },
    keyOf: ({ NodePool: pool, Namespace, ID }) => [pool, ...inNamespace(Namespace, ID)],
    present: (job, { unwatched }) => {
      const key = inNamespace(job.Namespace, job.ID);
      return jobStub(job, unwatched.table(jobSummaries).get(...key) ?? null);
    },
  });
