import type { allocationEndpoints } from '../contract/allocation.ts';
import type { clientCheckEndpoints } from '../contract/client-checks.ts';
import type { clientLifecycleEndpoints } from '../contract/client-lifecycle.ts';
import type { clientStatisticsEndpoints } from '../contract/client-statistics.ts';
import type { AnswerOf } from '../contract/endpoint.ts';
import type { serviceEndpoints } from '../contract/service.ts';
import type { ClientStatus } from '../model/allocation/allocation.ts';
import { callsOf } from './calls.ts';
import {
  type CallOptions,
  type ListOptions,
  listQuery,
  type ReadOptions,
  type Requester,
} from './requester.ts';
import { type Verdict, type WaitOptions, waitUntil } from './wait.ts';

export interface AllocationListOptions extends ListOptions {
  /** Include `AllocatedResources`. */
  readonly resources?: boolean | undefined;
  /** Include `TaskStates`; by default true. */
  readonly taskStates?: boolean | undefined;
}

export type AllocationStopped = AnswerOf<(typeof allocationEndpoints)['stop']>;

export type Allocations = ReturnType<typeof allocationsOf>;

export function allocationsOf(requester: Requester) {
  const { read, write } = callsOf<
    | typeof allocationEndpoints
    | typeof serviceEndpoints
    | typeof clientCheckEndpoints
    | typeof clientLifecycleEndpoints
    | typeof clientStatisticsEndpoints
  >(requester);
  return {
    ...waitsOf(requester),
    list: (options: AllocationListOptions = {}) =>
      read('GET /v1/allocations', {}, options, {
        ...listQuery(options),
        resources: options.resources || undefined,
        task_states: options.taskStates,
      }),
    /** `id` has to be complete; `list({ prefix })` finds allocations by a short id. */
    read: (id: string, options?: ReadOptions) =>
      read('GET /v1/allocation/:alloc_id', { alloc_id: id }, options),
    /** The services that the allocation has registered. */
    services: (id: string, options: ListOptions = {}) =>
      read('GET /v1/allocation/:alloc_id/services', { alloc_id: id }, options, listQuery(options)),
    /** The results of its checks by id, read from its node. */
    checks: (id: string, options?: CallOptions) =>
      read('GET /v1/allocation/:alloc_id/checks', { alloc_id: id }, options),
    /** Stops it. The scheduler then decides whether to replace it. */
    stop: (
      id: string,
      options: CallOptions & {
        readonly noShutdownDelay?: boolean;
        readonly reschedule?: boolean;
      } = {},
    ) =>
      write('PUT /v1/allocation/:alloc_id/stop', { alloc_id: id }, options, {
        query: {
          no_shutdown_delay: options.noShutdownDelay || undefined,
          reschedule: options.reschedule || undefined,
        },
      }),
    /** Restarts one task, or all running tasks. With `all`, completed tasks restart too. */
    restart: (
      id: string,
      {
        task = '',
        all = false,
      }: { readonly task?: string | undefined; readonly all?: boolean } = {},
      options?: CallOptions,
    ) =>
      write('PUT /v1/client/allocation/:alloc_id/restart', { alloc_id: id }, options, {
        body: {
          TaskName: task,
          AllTasks: all,
        },
      }),
    /** Sends a signal to one task, or to all running tasks. */
    signal: (id: string, Signal: string, Task = '', options?: CallOptions) =>
      write('PUT /v1/client/allocation/:alloc_id/signal', { alloc_id: id }, options, {
        body: {
          Task,
          Signal,
        },
      }),
    /** The current resource usage of its tasks. */
    usage: (id: string, options?: CallOptions) =>
      read('GET /v1/client/allocation/:alloc_id/stats', { alloc_id: id }, options),
    /** Removes a terminal allocation and its files from its node. */
    collect: (id: string, options?: CallOptions) =>
      read('GET /v1/client/allocation/:alloc_id/gc', { alloc_id: id }, options),
  };
}

const lastStatuses: ReadonlySet<ClientStatus> = new Set(['complete', 'failed', 'lost']);

type Found = AnswerOf<(typeof allocationEndpoints)['read']>;

function verdictOn(one: Found, wanted: ClientStatus): Verdict<Found> {
  const { ID, ClientStatus: status, ClientDescription: why } = one;
  if (status === wanted) return { kind: 'reached', value: one };
  if (!lastStatuses.has(status)) return { kind: 'not-yet' };
  return { kind: 'unreachable', sentence: `The allocation "${ID}" is ${status}: ${why}.` };
}

function waitsOf(requester: Requester) {
  const { read } = callsOf<typeof allocationEndpoints>(requester);
  return {
    /**
     * Resolves when its node has reported the status. Rejects with `WaitError` if it ends with another status,
     * or takes too long.
     */
    waitUntil: (id: string, status: ClientStatus, options?: WaitOptions) =>
      waitUntil(
        requester,
        {
          read: (of) => read('GET /v1/allocation/:alloc_id', { alloc_id: id }, of),
          judge: (one) => verdictOn(one, status),
          unmet: (last) => `The allocation "${id}" is ${last?.ClientStatus}, not ${status},`,
        },
        options,
      ),
  };
}
