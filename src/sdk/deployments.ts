import type { deploymentEndpoints } from '../contract/deployment.ts';
import type { AnswerOf } from '../contract/endpoint.ts';
import type { Deployment } from '../model/deployment/deployment.ts';
import { callsOf } from './calls.ts';
import {
  type CallOptions,
  type ListOptions,
  listQuery,
  type ReadOptions,
  type Requester,
} from './requester.ts';
import { byStatus, type WaitOptions, waitUntil } from './wait.ts';

/** The answer of an action on a deployment. Source: docs/behaviour/deployments.md#actions. */
export type DeploymentChanged = AnswerOf<(typeof deploymentEndpoints)['fail']>;

const lastStatuses = ['successful', 'failed', 'cancelled'] as const;

export type Deployments = ReturnType<typeof deploymentsOf>;

export function deploymentsOf(requester: Requester) {
  const { read, write } = callsOf<typeof deploymentEndpoints>(requester);
  const pause = (id: string, Pause: boolean, options?: CallOptions) =>
    write('PUT /v1/deployment/pause/:deployment_id', { deployment_id: id }, options, {
      body: {
        DeploymentID: id,
        Pause,
      },
    });
  return {
    ...waitsOf(requester),
    list: (options: ListOptions = {}) =>
      read('GET /v1/deployments', {}, options, listQuery(options)),
    /** `id` has to be complete; `list({ prefix })` finds deployments by a short id. */
    read: (id: string, options?: ReadOptions) =>
      read('GET /v1/deployment/:deployment_id', { deployment_id: id }, options),
    allocations: (id: string, options?: ReadOptions) =>
      read('GET /v1/deployment/allocations/:deployment_id', { deployment_id: id }, options),
    /**
     * Fails the deployment. If one of its groups has `AutoRevert`, the job reverts to its last
     * stable version.
     */
    fail: (id: string, options?: CallOptions) =>
      write('PUT /v1/deployment/fail/:deployment_id', { deployment_id: id }, options, {
        body: {
          DeploymentID: id,
        },
      }),
    pause: (id: string, options?: CallOptions) => pause(id, true, options),
    resume: (id: string, options?: CallOptions) => pause(id, false, options),
    /** Promotes these groups, or all groups with canaries. */
    promote: (
      id: string,
      options: CallOptions & { readonly groups?: readonly string[] | undefined } = {},
    ) =>
      write('PUT /v1/deployment/promote/:deployment_id', { deployment_id: id }, options, {
        body: {
          DeploymentID: id,
          ...(options.groups === undefined ? { All: true } : { Groups: options.groups }),
        },
      }),
    unblock: (id: string, options?: CallOptions) =>
      write('PUT /v1/deployment/unblock/:deployment_id', { deployment_id: id }, options, {
        body: {
          DeploymentID: id,
        },
      }),
    /** An unhealthy allocation fails the deployment. */
    setHealth: (
      id: string,
      health: { readonly healthy?: readonly string[]; readonly unhealthy?: readonly string[] },
      options?: CallOptions,
    ) =>
      write('PUT /v1/deployment/allocation-health/:deployment_id', { deployment_id: id }, options, {
        body: {
          DeploymentID: id,
          HealthyAllocationIDs: health.healthy ?? [],
          UnhealthyAllocationIDs: health.unhealthy ?? [],
        },
      }),
  };
}

function waitsOf(requester: Requester) {
  const { read } = callsOf<typeof deploymentEndpoints>(requester);
  const waitUntilOver = (
    id: string,
    wanted: 'successful' | 'failed',
    options?: WaitOptions,
  ): Promise<Deployment> =>
    waitUntil(
      requester,
      {
        read: (of) => read('GET /v1/deployment/:deployment_id', { deployment_id: id }, of),
        judge: byStatus<Deployment>('deployment', wanted, lastStatuses),
        unmet: (last) => `The deployment "${id}" is ${last?.Status ?? 'unknown'}, not ${wanted},`,
      },
      options,
    );
  return {
    /** Rejects with `WaitError` if it fails, is cancelled, or takes too long. */
    waitUntilSuccessful: (id: string, options?: WaitOptions) =>
      waitUntilOver(id, 'successful', options),
    /** Rejects with `WaitError` if it is successful, is cancelled, or takes too long. */
    waitUntilFailed: (id: string, options?: WaitOptions) => waitUntilOver(id, 'failed', options),
  };
}
