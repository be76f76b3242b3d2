import type { clientStatisticsEndpoints } from '../contract/client-statistics.ts';
import type { AnswerOf } from '../contract/endpoint.ts';
import type { NodeListItem, nodeEndpoints } from '../contract/node.ts';
import type { Eligibility } from '../model/node/node.ts';
import type { PresentedNode } from '../model/node/present.ts';
import type { NodeTopology } from '../model/node/topology.ts';
import type { MetricsOptions } from './agent.ts';
import { callsOf } from './calls.ts';
import {
  type CallOptions,
  type ListOptions,
  listQuery,
  type ReadOptions,
  type Requester,
} from './requester.ts';
import { byStatus, type WaitOptions, waitUntil } from './wait.ts';

export type { NodeListItem, NodeTopology, PresentedNode };

export interface NodeListOptions extends ListOptions {
  readonly resources?: boolean | undefined;
  /** Include the attributes of the operating system. */
  readonly os?: boolean | undefined;
}

export interface NodeAllocationsOptions extends ReadOptions {
  /** Whether each has its job; `true` if absent. */
  readonly job?: boolean | undefined;
}

/** The answer of a change of a node. */
export type NodeChanged = AnswerOf<(typeof nodeEndpoints)['drain']>;

export interface DrainOptions {
  /** Nanoseconds until the remaining allocations are stopped. 0: no deadline; negative: at once. */
  readonly deadline?: number;
  readonly ignoreSystemJobs?: boolean;
  /** Make the node eligible when it is empty. */
  readonly markEligible?: boolean;
  readonly meta?: Readonly<Record<string, string>>;
}

export interface TopologyOptions extends ListOptions {
  /** Keys of the meta of nodes; by default `rack`. */
  readonly meta?: readonly string[] | undefined;
}

function untilReady(requester: Requester, id: string, options?: WaitOptions) {
  const { read } = callsOf<typeof nodeEndpoints>(requester);
  return waitUntil(
    requester,
    {
      read: (of) => read('GET /v1/node/:node_id', { node_id: id }, of),
      judge: byStatus<PresentedNode>('node', 'ready', []),
      unmet: (last) => `The node "${id}" is ${last?.Status ?? 'not registered'}, not ready,`,
      missing: 'wait',
    },
    options,
  );
}

export type Nodes = ReturnType<typeof nodesOf>;

export function nodesOf(requester: Requester) {
  const { read, stream, write } = callsOf<typeof nodeEndpoints | typeof clientStatisticsEndpoints>(
    requester,
  );
  return {
    list: (options: NodeListOptions = {}) =>
      read('GET /v1/nodes', {}, options, nodeListQuery(options)),
    /** The resources of nodes, and those that allocations hold. */
    topology: (options: TopologyOptions = {}) =>
      read('GET /v1/nodes/topology', {}, options, { ...listQuery(options), meta: options.meta }),
    read: (id: string, options?: ReadOptions) =>
      read('GET /v1/node/:node_id', { node_id: id }, options),
    /** Resolves when the node is ready, also if it has to register first. `id` has to be complete. */
    waitUntilReady: (id: string, options?: WaitOptions) => untilReady(requester, id, options),
    /** The allocations in namespaces that the token may read. */
    allocations: (id: string, { job, ...options }: NodeAllocationsOptions = {}) =>
      read('GET /v1/node/:node_id/allocations', { node_id: id }, options, { job }),
    /** Starts or changes the drain. */
    drain: (
      id: string,
      { deadline = 0, ignoreSystemJobs = false, markEligible, meta }: DrainOptions,
      options?: CallOptions,
    ) =>
      write('PUT /v1/node/:node_id/drain', { node_id: id }, options, {
        body: {
          DrainSpec: { Deadline: deadline, IgnoreSystemJobs: ignoreSystemJobs },
          MarkEligible: markEligible ?? false,
          Meta: meta ?? null,
        },
      }),
    /** Makes the node eligible, unless `markEligible` is false. */
    cancelDrain: (
      id: string,
      { markEligible = true, meta }: Pick<DrainOptions, 'markEligible' | 'meta'> = {},
      options?: CallOptions,
    ) =>
      write('PUT /v1/node/:node_id/drain', { node_id: id }, options, {
        body: {
          DrainSpec: null,
          MarkEligible: markEligible,
          Meta: meta ?? null,
        },
      }),
    setEligibility: (id: string, Eligibility: Eligibility, options?: CallOptions) =>
      write('PUT /v1/node/:node_id/eligibility', { node_id: id }, options, {
        body: { Eligibility },
      }),
    evaluate: (id: string, options?: CallOptions) =>
      write('PUT /v1/node/:node_id/evaluate', { node_id: id }, options),
    /** Deletes the node. Its allocations are placed elsewhere. */
    purge: (id: string, options?: CallOptions) =>
      write('PUT /v1/node/:node_id/purge', { node_id: id }, options),
    /** The current resource usage of the machine. */
    usage: (id: string, options?: CallOptions) =>
      read('GET /v1/client/stats', {}, options, { node_id: id }),
    /** The metrics of the machine and of the tasks on it, in pieces. */
    metrics: (id: string, { format = 'prometheus', ...options }: MetricsOptions = {}) =>
      stream('GET /v1/client/metrics', {}, options, { node_id: id, format }),
    /** Removes all terminal allocations with their files. */
    collect: (id: string, options?: CallOptions) =>
      read('GET /v1/client/gc', {}, options, { node_id: id }),
  };
}

export const nodeListQuery = (options: NodeListOptions) => ({
  ...listQuery(options),
  resources: options.resources || undefined,
  os: options.os || undefined,
});
