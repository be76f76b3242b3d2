import type { clientStatisticsEndpoints } from '../contract/client-statistics.ts';
import type { AnswerOf } from '../contract/endpoint.ts';
import type { NodeListItem, nodeEndpoints } from '../contract/node.ts';
import type { Eligibility } from '../model/node/node.ts';
import type { PresentedNode } from '../model/node/present.ts';
import { callsOf } from './calls.ts';
import {
  type CallOptions,
  type ListOptions,
  listQuery,
  type ReadOptions,
  type Requester,
} from './requester.ts';

export type { NodeListItem, PresentedNode };

export interface NodeListOptions extends ListOptions {
  readonly resources?: boolean | undefined;
  /** Carry the attributes that tell of the operating system. */
  readonly os?: boolean | undefined;
}

/** What a change of a node answers. */
export type NodeChanged = AnswerOf<(typeof nodeEndpoints)['drain']>;

export interface DrainOptions {
  /** Nanoseconds until everything that is left has to go. 0: no deadline; negative: at once. */
  readonly deadline?: number;
  readonly ignoreSystemJobs?: boolean;
  /** The node takes work again once it is empty. */
  readonly markEligible?: boolean;
  readonly meta?: Readonly<Record<string, string>>;
}

export type Nodes = ReturnType<typeof nodesOf>;

export function nodesOf(requester: Requester) {
  const { read, write } = callsOf<typeof nodeEndpoints | typeof clientStatisticsEndpoints>(
    requester,
  );
  return {
    list: (options: NodeListOptions = {}) =>
      read('GET /v1/nodes', {}, options, nodeListQuery(options)),
    read: (id: string, options?: ReadOptions) =>
      read('GET /v1/node/:node_id', { node_id: id }, options),
    /** Those of namespaces that the token may read. */
    allocations: (id: string, options?: ReadOptions) =>
      read('GET /v1/node/:node_id/allocations', { node_id: id }, options),
    /** Begins to empty the node, or changes how. */
    drain: (
      id: string,
      { deadline = 0, ignoreSystemJobs = false, markEligible, meta }: DrainOptions,
      options?: CallOptions,
    ) =>
      write('PUT /v1/node/:node_id/drain', { node_id: id }, options, {
        DrainSpec: { Deadline: deadline, IgnoreSystemJobs: ignoreSystemJobs },
        MarkEligible: markEligible ?? false,
        Meta: meta ?? null,
      }),
    /** The node takes work again unless `markEligible` is false. */
    cancelDrain: (
      id: string,
      { markEligible = true, meta }: Pick<DrainOptions, 'markEligible' | 'meta'> = {},
      options?: CallOptions,
    ) =>
      write('PUT /v1/node/:node_id/drain', { node_id: id }, options, {
        ...{ DrainSpec: null, MarkEligible: markEligible, Meta: meta ?? null },
      }),
    setEligibility: (id: string, Eligibility: Eligibility, options?: CallOptions) =>
      write('PUT /v1/node/:node_id/eligibility', { node_id: id }, options, { Eligibility }),
    evaluate: (id: string, options?: CallOptions) =>
      write('PUT /v1/node/:node_id/evaluate', { node_id: id }, options),
    /** Forgets the node; what ran there goes elsewhere. */
    purge: (id: string, options?: CallOptions) =>
      write('PUT /v1/node/:node_id/purge', { node_id: id }, options),
    /** What the machine uses now. */
    usage: (id: string, options?: CallOptions) =>
      read('GET /v1/client/stats', {}, options, { node_id: id }),
    /** Removes all allocations that are over, with their files. */
    collect: (id: string, options?: CallOptions) =>
      read('GET /v1/client/gc', {}, options, { node_id: id }),
  };
}

export const nodeListQuery = (options: NodeListOptions) => ({
  ...listQuery(options),
  resources: options.resources || undefined,
  os: options.os || undefined,
});
