import type { Allocation, AllocationReport } from '../model/allocation/allocation.ts';
import type { Job } from '../model/job/job.ts';
import type { NodeRegistration } from '../model/node/node.ts';
import type { ServicesReport } from '../model/service-registration/service-registration.ts';
import type { IdentityAnswer, IdentityRequest } from '../model/workload/identity-request.ts';
import {
  type Answer,
  type CallOptions,
  path,
  type ReadOptions,
  type Requester,
} from './requester.ts';

/** Source: docs/behaviour/nodes.md#registration. */
export interface NodeHeartbeat {
  /** Nanoseconds until the next heartbeat is due. */
  readonly HeartbeatTTL: number;
  readonly Index: number;
}

/** An allocation of the node with the version of its job that it runs. */
export interface Assignment {
  readonly Allocation: Allocation;
  /** `null` once the job was purged. */
  readonly Job: Job | null;
}

/** The calls that a node makes for itself; the client's token is its secret. */
export interface NodeAgent {
  /** `secret` is the node's own, made by it; the client's token may be an introduction token. */
  register(
    registration: NodeRegistration,
    secret: string,
    options?: CallOptions,
  ): Promise<Answer<NodeHeartbeat>>;
  heartbeat(nodeId: string, options?: CallOptions): Promise<Answer<NodeHeartbeat>>;
  /** Blocks with `index`; wakes by what servers change, not by the node's own reports. */
  assignments(nodeId: string, options?: ReadOptions): Promise<Answer<readonly Assignment[]>>;
  /** `limits.node.statusBatchSizeMax` of them at most. */
  reportStatus(
    nodeId: string,
    reports: readonly AllocationReport[],
    options?: CallOptions,
  ): Promise<Answer<{ readonly Index: number }>>;
  /** All services of each of these allocations, as they are now. */
  reportServices(
    nodeId: string,
    reports: readonly ServicesReport[],
    options?: CallOptions,
  ): Promise<Answer<{ readonly Index: number }>>;
  /** Tokens of the tasks of its allocations, `limits.identity.batchMax` of them at most. */
  identities(
    nodeId: string,
    requests: readonly IdentityRequest[],
    options?: CallOptions,
  ): Promise<Answer<IdentityAnswer>>;
  /** What an allocation left, as a tar, once it is over: for the node that runs its successor. */
  snapshot(allocId: string, options?: CallOptions): AsyncIterable<Uint8Array>;
  /** Where the node opens its one WebSocket to the server, and with which headers. */
  stream(nodeId: string): { readonly url: string; readonly headers: Record<string, string> };
}

export const nodeAgentOf = (requester: Requester, address: string): NodeAgent => ({
  register: (registration, secret, options) =>
    requester.write('PUT', '/v1/node/register', options, { Node: registration, SecretID: secret }),
  heartbeat: (nodeId, options) =>
    requester.write('PUT', path`/v1/node/${nodeId}/heartbeat`, options),
  assignments: (nodeId, options) => requester.read(path`/v1/node/${nodeId}/assignments`, options),
  reportStatus: (nodeId, reports, options) =>
    requester.write('PUT', path`/v1/node/${nodeId}/status`, options, { Allocations: reports }),
  reportServices: (nodeId, reports, options) =>
    requester.write('PUT', path`/v1/node/${nodeId}/services`, options, { Allocations: reports }),
  identities: (nodeId, Identities, options) =>
    requester.write('PUT', path`/v1/node/${nodeId}/identities`, options, { Identities }),
  snapshot: (allocId, options) =>
    requester.stream(path`/v1/client/allocation/${allocId}/snapshot`, options),
  stream: (nodeId) => ({
    url: `${address.replace(/^http/, 'ws')}${path`/v1/node/${nodeId}/stream`}`,
    headers: { ...requester.headers() },
  }),
});
