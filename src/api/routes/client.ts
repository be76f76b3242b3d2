import { anyOf } from '../../model/permission/permission.ts';
import type { Server } from '../../server/server.ts';
import type { Snapshot } from '../../state/types.ts';
import { type Route, type Scope, streamRoute } from '../route.ts';
import { allocationById, findAllocation, inItsNamespace } from './allocation.ts';
import { askNode } from './ask-node.ts';

const readLogs = (scope: Scope) =>
  anyOf(inItsNamespace('read-logs')(scope), inItsNamespace('read-fs')(scope));

/** What only the node knows, asked over the connection that it holds open. */
export function clientRoutes(server: Server): Route[] {
  return [
    streamRoute({
      method: 'GET',
      path: '/v1/client/fs/logs/:alloc_id',
      noun: 'client',
      summary: 'Read or follow the output of a task',
      query: {
        task: { kind: 'string', required: true, description: 'The task of the allocation.' },
        type: { kind: 'string', default: 'stdout', description: '`stdout` or `stderr`.' },
        follow: { kind: 'boolean', default: false, description: 'Go on until the task is over.' },
        plain: { kind: 'boolean', default: false, description: 'Bytes as they are, no frames.' },
        origin: { kind: 'string', default: 'start', description: '`start` or `end`.' },
        offset: { kind: 'integer', default: 0, description: 'Bytes from the origin.' },
      },
      permission: readLogs,
      handle: async ({ parameters, query, unwatched }, signal) => {
        const { NodeID, ID } = allocationById(unwatched, parameters.alloc_id!);
        const params = { ...query, alloc_id: ID };
        const { body } = await askNode(server, { nodeId: NodeID, kind: 'logs', params, signal });
        const type = query.plain ? 'text/plain; charset=utf-8' : 'application/x-ndjson';
        return { status: 200, headers: { 'content-type': type, ...unsniffed }, body };
      },
    }),
    streamRoute({
      ...{ method: 'GET', path: '/v1/client/allocation/:alloc_id/snapshot', noun: 'client' },
      summary: 'Read what an allocation left, for the node that runs its successor',
      permission: ({ parameters, unwatched }) => ({
        kind: 'own-node',
        nodeId: successorNode(unwatched, parameters.alloc_id!),
      }),
      handle: async ({ parameters, unwatched }, signal) => {
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
    }),
  ];
}

/** What tasks write is theirs: no browser may take it for a page of this server. */
export const unsniffed = { 'x-content-type-options': 'nosniff' } as const;

/** Who may have what the allocation left; empty: nobody. */
function successorNode(snapshot: Snapshot, id: string): string {
  const previous = findAllocation(snapshot, id);
  const next = previous && findAllocation(snapshot, previous.NextAllocation);
  return next?.PreviousAllocation === previous?.ID ? (next?.NodeID ?? '') : '';
}
