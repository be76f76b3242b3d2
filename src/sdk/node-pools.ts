import type { nodePoolEndpoints } from '../contract/node-pool.ts';
import type { NodePoolRequest } from '../model/node-pool/node-pool.ts';
import { callsOf } from './calls.ts';
import { type NodeListOptions, nodeListQuery } from './nodes.ts';
import {
  type CallOptions,
  type ListOptions,
  listQuery,
  type ReadOptions,
  type Requester,
} from './requester.ts';

export type NodePools = ReturnType<typeof nodePoolsOf>;

export function nodePoolsOf(requester: Requester) {
  const { read, write } = callsOf<typeof nodePoolEndpoints>(requester);
  return {
    list: (options: ListOptions = {}) =>
      read('GET /v1/node/pools', {}, options, listQuery(options)),
    read: (name: string, options?: ReadOptions) =>
      read('GET /v1/node/pool/:name', { name }, options),
    /** Creates or replaces the pool. */
    write: (name: string, pool: NodePoolRequest, options?: CallOptions) =>
      write('PUT /v1/node/pool/:name', { name }, options, { body: pool }),
    delete: (name: string, options?: CallOptions) =>
      write('DELETE /v1/node/pool/:name', { name }, options),
    nodes: (name: string, options: NodeListOptions = {}) =>
      read('GET /v1/node/pool/:name/nodes', { name }, options, nodeListQuery(options)),
    /** The jobs of the namespace; with `*`, all that the token may list. */
    jobs: (name: string, options: ListOptions = {}) =>
      read('GET /v1/node/pool/:name/jobs', { name }, options, listQuery(options)),
  };
}
