import type { Allocation } from '../model/allocation/allocation.ts';
import type { Node } from '../model/node/node.ts';
import {
  type Answer,
  type ListOptions,
  listQuery,
  path,
  type ReadOptions,
  type Requester,
} from './requester.ts';

/** A node as it is shown: without what is kept of its secret. */
export type PresentedNode = Omit<Node, 'SecretHash'>;

/** A node in a list. `Attributes` and resources may be left out by the server. */
export type NodeListItem = Pick<
  PresentedNode,
  | 'ID'
  | 'Name'
  | 'Datacenter'
  | 'NodeClass'
  | 'NodePool'
  | 'Status'
  | 'StatusDescription'
  | 'SchedulingEligibility'
  | 'Drain'
  | 'Drivers'
  | 'CreateIndex'
  | 'ModifyIndex'
> &
  Partial<PresentedNode>;

export interface Nodes {
  list(options?: ListOptions): Promise<Answer<readonly NodeListItem[]>>;
  read(id: string, options?: ReadOptions): Promise<Answer<PresentedNode>>;
  /** Those of namespaces that the token may read. */
  allocations(id: string, options?: ReadOptions): Promise<Answer<readonly Allocation[]>>;
}

export const nodesOf = (requester: Requester): Nodes => ({
  list: (options = {}) => requester.read('/v1/nodes', options, listQuery(options)),
  read: (id, options) => requester.read(path`/v1/node/${id}`, options),
  allocations: (id, options) => requester.read(path`/v1/node/${id}/allocations`, options),
});
