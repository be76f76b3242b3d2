import { anyOf } from '../../acl/permission.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { RosterError } from '../../model/errors.ts';
import { type ByteStream, StreamFault } from '../../model/node-stream/byte-stream.ts';
import type { Server } from '../../server/server.ts';
import { allocations } from '../../state/tables.ts';
import type { Answer } from '../http.ts';
import { type Route, type Scope, streamRoute } from '../route.ts';
import { allocationById, inItsNamespace } from './allocation.ts';

const readLogs = (scope: Scope) =>
  anyOf(inItsNamespace('read-logs')(scope), inItsNamespace('read-fs')(scope));

/** What only the node knows, asked over the connection that it holds open. facts §8.4. */
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
        const connection = server.streams.of(NodeID);
        try {
          const source = connection.open('logs', { ...query, alloc_id: ID });
          return await streamed(source, query.plain ? types.plain : types.frames, signal);
        } catch (error) {
          if (error instanceof StreamFault) throw faultRefusal(error);
          throw error;
        }
      },
    }),
    streamRoute({
      method: 'GET',
      path: '/v1/client/allocation/:alloc_id/snapshot',
      noun: 'client',
      summary: 'Read what an allocation left, for the node that runs its successor',
      permission: ({ parameters, unwatched }) => ({
        kind: 'own-node',
        nodeId: successorNode(unwatched, parameters.alloc_id!),
      }),
      handle: async ({ parameters, unwatched }, signal) => {
        const { NodeID, ID } = allocationById(unwatched, parameters.alloc_id!);
        try {
          const source = server.streams.of(NodeID).open('snapshot', { alloc_id: ID });
          return await streamed(source, 'application/x-tar', signal);
        } catch (error) {
          if (error instanceof StreamFault) throw faultRefusal(error);
          throw error;
        }
      },
    }),
  ];
}

function findAllocation(snapshot: Scope['unwatched'], id: string): Allocation | undefined {
  if (id === '') return undefined;
  for (const row of snapshot
    .table(allocations)
    .by('id')
    .scan({ prefix: [id] })) {
    return row;
  }
  return undefined;
}

/** Who may have what the allocation left; empty: nobody. */
function successorNode(snapshot: Scope['unwatched'], id: string): string {
  const previous = findAllocation(snapshot, id);
  const next = previous && findAllocation(snapshot, previous.NextAllocation);
  return next?.PreviousAllocation === previous?.ID ? (next?.NodeID ?? '') : '';
}

const types = { plain: 'text/plain; charset=utf-8', frames: 'application/x-ndjson' } as const;

/**
 * Answers once the first bytes or the first fault have come, so that a fault becomes a problem
 * rather than a cut answer. Throws {@link StreamFault}.
 */
async function streamed(source: ByteStream, type: string, signal: AbortSignal): Promise<Answer> {
  // An iterator that waits for bytes ends only when its source does.
  const cancel = (): void => source.cancel();
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  const iterator = source[Symbol.asyncIterator]();
  const first = await iterator.next();
  async function* rest(): AsyncGenerator<Uint8Array> {
    try {
      for (let next = first; !next.done; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return { status: 200, headers: { 'content-type': type }, body: rest() };
}

const faultRefusal = ({ status, message }: StreamFault): RosterError => {
  if (status === 404) return new RosterError('file-not-found', message);
  if (status === 429) return new RosterError('too-many-watches', message);
  if (status < 500) return new RosterError('malformed-request', message);
  return new RosterError('node-unreachable', message);
};
