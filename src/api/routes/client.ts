import { clientEndpoints as contract } from '../../contract/client.ts';
import type { Server } from '../../server/server.ts';
import type { Snapshot } from '../../state/types.ts';
import type { Route } from '../route.ts';
import { serveStream } from '../serve.ts';
import { allocationById, allocationIn, findAllocation } from './allocation.ts';
import { askNode } from './ask-node.ts';
import { followNode } from './follow-node.ts';

/** Logs and files, read over the connection that the node keeps open. */
export function clientRoutes(server: Server): Route[] {
  return [
    ...serveStream(
      contract.readLogs,
      async ({ parameters, query, unwatched, renew }, signal) => {
        const { NodeID, ID } = allocationById(unwatched, parameters.alloc_id!);
        const params = { ...query, alloc_id: ID };
        const question = { nodeId: NodeID, kind: 'logs', params, signal };
        const body = await followNode(server, { ...question, renew, isPlain: query.plain });
        const type = query.plain ? 'text/plain; charset=utf-8' : 'application/x-ndjson';
        return { status: 200, headers: { 'content-type': type, ...unsniffed }, body };
      },
      { found: allocationIn },
    ),
    ...serveStream(
      contract.readSnapshot,
      async ({ parameters, unwatched }, signal) => {
        const { NodeID, ID } = allocationById(unwatched, parameters.alloc_id!);
        const params = { alloc_id: ID };
        const { body } = await askNode(server, {
          nodeId: NodeID,
          kind: 'snapshot',
          params,
          signal,
        });
        return { status: 200, headers: { 'content-type': 'application/x-tar' }, body };
      },
      { found: ({ parameters, unwatched }) => successorNode(unwatched, parameters.alloc_id) },
    ),
  ];
}

/** Tasks control the content, so browsers must not treat it as a page of this server. */
export const unsniffed = { 'x-content-type-options': 'nosniff' } as const;

/** The node that may read the allocation's files; empty: none. */
function successorNode(snapshot: Snapshot, id: string): string {
  const previous = findAllocation(snapshot, id);
  const next = previous && findAllocation(snapshot, previous.NextAllocation);
  return next?.PreviousAllocation === previous?.ID ? (next?.NodeID ?? '') : '';
}
