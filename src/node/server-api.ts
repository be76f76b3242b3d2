/**
 * What a node needs of its servers. The product implements it over HTTP with the SDK, tests and the
 * simulator directly. Calls may reject with an error that has an HTTP `status`, and perhaps `retryAfterSeconds`; an error
 * without `status` is a lost connection.
 */
import { secondMs } from '../base/units.ts';
import type { Allocation, AllocationReport } from '../model/allocation/allocation.ts';
import type { Job } from '../model/job/job.ts';
import { limits } from '../model/limits.ts';
import type { NodeRegistration } from '../model/node/node.ts';
import type { StreamSocket } from '../model/node-stream/stream-connection.ts';
import type { ServicesReport } from '../model/service-registration/service-registration.ts';
import type { RestoredForNode } from '../model/snapshot/restore-record.ts';
import type { AllocationTrace } from '../model/tracing/task-traces.ts';
import type { IdentityAnswer, IdentityRequest } from '../model/workload/identity-request.ts';

export interface HeartbeatAnswer {
  /** Nanoseconds within which the next heartbeat is expected. */
  readonly HeartbeatTTL: number;
  readonly Index: number;
}

export interface RegisterAnswer extends HeartbeatAnswer {
  /** The servers have restored a snapshot, which may not know all allocations of this node. */
  readonly Restored?: RestoredForNode;
}

/** An allocation of this node with its job at the allocation's version. */
export interface Assignment {
  readonly Allocation: Allocation;
  /** `null` once the job was purged. */
  readonly Job: Job | null;
}

export interface AssignmentsAnswer {
  /** Changes only with writes of the servers, not with the node's own reports. */
  readonly index: number;
  /** All allocations of this node that are not client-terminal. */
  readonly assignments: readonly Assignment[];
}

export interface ServerApi {
  /** `PUT /v1/node/register`. `token`: an introduction token, or the node's secret. */
  register(
    body: { readonly Node: NodeRegistration; readonly SecretID: string },
    token: string,
    signal: AbortSignal,
  ): Promise<RegisterAnswer>;
  /** `PUT /v1/node/:node_id/heartbeat`. 404: the node must register again. */
  heartbeat(nodeId: string, token: string, signal: AbortSignal): Promise<HeartbeatAnswer>;
  /**
   * `GET /v1/node/:node_id/assignments`, blocking. `restored`: index of the last restore that the node has heard of, or 0.
   * 404: the node must register again.
   */
  assignments(
    nodeId: string,
    query: { readonly index: number; readonly waitMs: number; readonly restored: number },
    token: string,
    signal: AbortSignal,
  ): Promise<AssignmentsAnswer>;
  /** `PUT /v1/node/:node_id/status`. Reports on unknown allocations are no error. */
  reportStatus(
    nodeId: string,
    reports: readonly AllocationReport[],
    token: string,
    signal: AbortSignal,
  ): Promise<void>;
  /** `PUT /v1/node/:node_id/services`. Reports on unknown allocations are no error. */
  reportServices(
    nodeId: string,
    reports: readonly ServicesReport[],
    token: string,
    signal: AbortSignal,
  ): Promise<void>;
  /** `PUT /v1/node/:node_id/identities`, of `limits.identity.batchMax` at most. */
  identities(
    nodeId: string,
    requests: readonly IdentityRequest[],
    token: string,
    signal: AbortSignal,
  ): Promise<IdentityAnswer>;
  /** `PUT /v1/node/:node_id/traces`, of `limits.node.statusBatchSizeMax` allocations at most. */
  traces(
    nodeId: string,
    ids: readonly string[],
    token: string,
    signal: AbortSignal,
  ): Promise<readonly AllocationTrace[]>;
  /** `GET /v1/client/allocation/:alloc_id/snapshot`: the data of an ended allocation, as a tar. */
  snapshot(allocId: string, token: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** `GET /v1/node/:node_id/stream`, a WebSocket; resolves when it is open. */
  openStream(nodeId: string, token: string, signal: AbortSignal): Promise<StreamSocket>;
}

/** The HTTP status of a rejected call, or 0 when no server answered. */
export const statusOf = (error: unknown): number => {
  const { status } = (error ?? {}) as { status?: unknown };
  return typeof status === 'number' ? status : 0;
};

/**
 * How long a server asks to be left alone (`Retry-After`), or 0. A proxy in between may answer with a time of the day, which
 * is no number, or with a time after which the node would count as away.
 */
export const retryAfterMsOf = (error: unknown): number => {
  const { retryAfterSeconds } = (error ?? {}) as { retryAfterSeconds?: unknown };
  const askedMs = Number(retryAfterSeconds ?? 0) * secondMs;
  return askedMs > 0 ? Math.min(askedMs, limits.stream.retryAfterMaxMs) : 0;
};

/** The error's message, for the end of a sentence. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
