import { nodePoolEndpoints as contract } from '../../contract/node-pool.ts';
import { jobStub } from '../../model/job/job-stub.ts';
import { defaultPartition, everyNamespace } from '../../model/namespace/namespace.ts';
import type { Node } from '../../model/node/node.ts';
import { presentNode } from '../../model/node/present.ts';
import { everyNode } from '../../model/node-pool/node-pool.ts';
import { deleteNodePool, requireNodePool, writeNodePool } from '../../server/node-pools/pools.ts';
import type { Server } from '../../server/server.ts';
import { inNamespace, jobSummaries, jobs, nodePools, nodes } from '../../state/tables.ts';
import type { BaseInput, Route } from '../route.ts';
import { serveList, serveRead, serveWrite } from '../serve.ts';
import { nodeStub } from './node.ts';

/** Source: docs/behaviour/nodes.md#node-pools. */
export function nodePoolRoutes({ context }: Server): Route[] {
  return [
    ...serveList(contract.list, {
      rows: ({ query, snapshot }, { from, reverse }) =>
        snapshot.table(nodePools).scan({ text: query.prefix, ...(from && { from }), reverse }),
      keyOf: ({ Name }) => [Name],
      present: (pool) => pool,
    }),
    ...serveRead(contract.read, ({ parameters, snapshot }) => {
      requireNodePool(snapshot, parameters.name);
      return snapshot.table(nodePools).get(parameters.name)!;
    }),
    ...serveWrite(contract.create, ({ body }) => writeNodePool(context, '', body)),
    ...serveWrite(contract.write, ({ parameters, body }) =>
      writeNodePool(context, parameters.name!, body),
    ),
    ...serveWrite(contract.delete, ({ parameters }) => deleteNodePool(context, parameters.name!)),
    ...poolNodes(),
    ...poolJobs(),
  ];
}

/** Changes of the pool do not wake its lists, unless the pool is missing. */
function poolOf({ parameters, snapshot, unwatched }: BaseInput): string {
  const name = parameters.name!;
  requireNodePool(unwatched.table(nodePools).has(name) ? unwatched : snapshot, name);
  return name;
}

const poolNodes = (): Route[] =>
  serveList(contract.nodes, {
    record: presentNode,
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

const poolJobs = (): Route[] =>
  serveList(contract.jobs, {
    rows: (input, { from, reverse }) => {
      const { namespace, snapshot } = input;
      const pool = poolOf(input);
      const isEvery = namespace === everyNamespace;
      // The answer contains counters. One range in the footprint is cheaper than one entry per job.
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
