import type { clientEndpoints } from '../contract/client.ts';
import type { AnswerOf } from '../contract/endpoint.ts';
import type { nodeAgentEndpoints } from '../contract/node-agent.ts';
import type { workloadIdentityEndpoints } from '../contract/workload-identity.ts';
import type { AllocationReport } from '../model/allocation/allocation.ts';
import type { NodeRegistration } from '../model/node/node.ts';
import type { ServicesReport } from '../model/service-registration/service-registration.ts';
import type { IdentityRequest } from '../model/workload/identity-request.ts';
import { callsOf } from './calls.ts';
import { type CallOptions, path, type ReadOptions, type Requester } from './requester.ts';

/** Source: docs/behaviour/nodes.md#registration. */
export type NodeHeartbeat = AnswerOf<(typeof nodeAgentEndpoints)['heartbeat']>;

/** An allocation of the node with the version of its job that it runs. */
export type Assignment = AnswerOf<(typeof nodeAgentEndpoints)['assignments']>[number];

/** The calls that a node makes for itself; the client's token is its secret. */
export type NodeAgent = ReturnType<typeof nodeAgentOf>;

export function nodeAgentOf(requester: Requester, address: string) {
  const { write, read, stream } = callsOf<
    typeof nodeAgentEndpoints | typeof workloadIdentityEndpoints | typeof clientEndpoints
  >(requester);
  return {
    /** `secret` is the node's own, made by it; the client's token may be an introduction token. */
    register: (registration: NodeRegistration, secret: string, options?: CallOptions) =>
      write('PUT /v1/node/register', {}, options, { Node: registration, SecretID: secret }),
    heartbeat: (nodeId: string, options?: CallOptions) =>
      write('PUT /v1/node/:node_id/heartbeat', { node_id: nodeId }, options),
    /** Blocks with `index`; wakes by what servers change, not by the node's own reports. */
    assignments: (nodeId: string, options?: ReadOptions) =>
      read('GET /v1/node/:node_id/assignments', { node_id: nodeId }, options),
    /** `limits.node.statusBatchSizeMax` of them at most. */
    reportStatus: (nodeId: string, reports: readonly AllocationReport[], options?: CallOptions) =>
      write('PUT /v1/node/:node_id/status', { node_id: nodeId }, options, { Allocations: reports }),
    /** All services of each of these allocations, as they are now. */
    reportServices: (nodeId: string, reports: readonly ServicesReport[], options?: CallOptions) =>
      write('PUT /v1/node/:node_id/services', { node_id: nodeId }, options, {
        Allocations: reports,
      }),
    /** Tokens of the tasks of its allocations, `limits.identity.batchMax` of them at most. */
    identities: (nodeId: string, Identities: readonly IdentityRequest[], options?: CallOptions) =>
      write('PUT /v1/node/:node_id/identities', { node_id: nodeId }, options, { Identities }),
    /** What an allocation left, as a tar, once it is over: for the node that runs its successor. */
    snapshot: (allocId: string, options?: CallOptions) =>
      stream('GET /v1/client/allocation/:alloc_id/snapshot', { alloc_id: allocId }, options),
    /** Where the node opens its one WebSocket to the server, and with which headers. */
    stream: (nodeId: string) => ({
      url: `${address.replace(/^http/, 'ws')}${path`/v1/node/${nodeId}/stream`}`,
      headers: { ...requester.headers() },
    }),
  };
}
