import type { JobStub } from '../model/job/job-stub.ts';
import type { NodePool, NodePoolRequest } from '../model/node-pool/node-pool.ts';
import { type NodeListItem, type NodeListOptions, nodeListQuery } from './nodes.ts';
import {
  type Answer,
  type CallOptions,
  type ListOptions,
  listQuery,
  path,
  type ReadOptions,
  type Requester,
} from './requester.ts';

export interface NodePools {
  list(options?: ListOptions): Promise<Answer<readonly NodePool[]>>;
  read(name: string, options?: ReadOptions): Promise<Answer<NodePool>>;
  /** Makes it, or replaces what is said of it. */
  write(name: string, pool: NodePoolRequest, options?: CallOptions): Promise<Answer<NodePool>>;
  delete(name: string, options?: CallOptions): Promise<Answer<boolean>>;
  nodes(name: string, options?: NodeListOptions): Promise<Answer<readonly NodeListItem[]>>;
  /** Those of the namespace, or with `*` of all that the token may list. */
  jobs(name: string, options?: ListOptions): Promise<Answer<readonly JobStub[]>>;
}

export const nodePoolsOf = (requester: Requester): NodePools => ({
  list: (options = {}) => requester.read('/v1/node/pools', options, listQuery(options)),
  read: (name, options) => requester.read(path`/v1/node/pool/${name}`, options),
  write: (name, pool, options) =>
    requester.write('PUT', path`/v1/node/pool/${name}`, options, pool),
  delete: (name, options) => requester.write('DELETE', path`/v1/node/pool/${name}`, options),
  nodes: (name, options = {}) =>
    requester.read(path`/v1/node/pool/${name}/nodes`, options, nodeListQuery(options)),
  jobs: (name, options = {}) =>
    requester.read(path`/v1/node/pool/${name}/jobs`, options, listQuery(options)),
});
