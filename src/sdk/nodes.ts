import type { WholeAllocation } from '../model/allocation/present.ts';
import type { Eligibility } from '../model/node/node.ts';
import type { NodeUsage } from '../model/node/node-usage.ts';
import type { PresentedNode } from '../model/node/present.ts';
import {
  type Answer,
  type CallOptions,
  type ListOptions,
  listQuery,
  path,
  type Query,
  type ReadOptions,
  type Requester,
} from './requester.ts';

export type { PresentedNode };

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

export interface NodeListOptions extends ListOptions {
  readonly resources?: boolean | undefined;
  /** Carry the attributes that tell of the operating system. */
  readonly os?: boolean | undefined;
}

/** What a change of a node answers. */
export interface NodeChanged {
  readonly EvalIDs: readonly string[];
  readonly EvalCreateIndex: number;
  readonly NodeModifyIndex: number;
  readonly Index: number;
}

export interface DrainOptions {
  /** Nanoseconds until everything that is left has to go. 0: no deadline; negative: at once. */
  readonly deadline?: number;
  readonly ignoreSystemJobs?: boolean;
  /** The node takes work again once it is empty. */
  readonly markEligible?: boolean;
  readonly meta?: Readonly<Record<string, string>>;
}

export interface Nodes {
  list(options?: NodeListOptions): Promise<Answer<readonly NodeListItem[]>>;
  read(id: string, options?: ReadOptions): Promise<Answer<PresentedNode>>;
  /** Those of namespaces that the token may read. */
  allocations(id: string, options?: ReadOptions): Promise<Answer<readonly WholeAllocation[]>>;
  /** Begins to empty the node, or changes how. */
  drain(id: string, drain: DrainOptions, options?: CallOptions): Promise<Answer<NodeChanged>>;
  /** The node takes work again unless `markEligible` is false. */
  cancelDrain(
    id: string,
    drain?: Pick<DrainOptions, 'markEligible' | 'meta'>,
    options?: CallOptions,
  ): Promise<Answer<NodeChanged>>;
  setEligibility(
    id: string,
    eligibility: Eligibility,
    options?: CallOptions,
  ): Promise<Answer<NodeChanged>>;
  evaluate(id: string, options?: CallOptions): Promise<Answer<NodeChanged>>;
  /** Forgets the node; what ran there goes elsewhere. */
  purge(id: string, options?: CallOptions): Promise<Answer<NodeChanged>>;
  /** What the machine uses now. */
  usage(id: string, options?: CallOptions): Promise<Answer<NodeUsage>>;
  /** Removes all allocations that are over, with their files. */
  collect(id: string, options?: CallOptions): Promise<Answer<object>>;
}

export const nodesOf = (requester: Requester): Nodes => ({
  list: (options = {}) => requester.read('/v1/nodes', options, nodeListQuery(options)),
  read: (id, options) => requester.read(path`/v1/node/${id}`, options),
  allocations: (id, options) => requester.read(path`/v1/node/${id}/allocations`, options),
  drain: (id, { deadline = 0, ignoreSystemJobs = false, markEligible, meta }, options) =>
    requester.write('PUT', path`/v1/node/${id}/drain`, options, {
      DrainSpec: { Deadline: deadline, IgnoreSystemJobs: ignoreSystemJobs },
      MarkEligible: markEligible ?? false,
      Meta: meta ?? null,
    }),
  cancelDrain: (id, { markEligible = true, meta } = {}, options) =>
    requester.write('PUT', path`/v1/node/${id}/drain`, options, {
      ...{ DrainSpec: null, MarkEligible: markEligible, Meta: meta ?? null },
    }),
  setEligibility: (id, Eligibility, options) =>
    requester.write('PUT', path`/v1/node/${id}/eligibility`, options, { Eligibility }),
  evaluate: (id, options) => requester.write('PUT', path`/v1/node/${id}/evaluate`, options),
  purge: (id, options) => requester.write('PUT', path`/v1/node/${id}/purge`, options),
  usage: (id, options) => requester.read('/v1/client/stats', options, { node_id: id }),
  collect: (id, options) => requester.read('/v1/client/gc', options, { node_id: id }),
});

export const nodeListQuery = (options: NodeListOptions): Query => ({
  ...listQuery(options),
  resources: options.resources || undefined,
  os: options.os || undefined,
});
