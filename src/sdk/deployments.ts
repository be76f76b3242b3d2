import type { AllocationStub } from '../model/allocation/allocation-stub.ts';
import type { Deployment } from '../model/deployment/deployment.ts';
import {
  type Answer,
  type CallOptions,
  type ListOptions,
  listQuery,
  path,
  type ReadOptions,
  type Requester,
} from './requester.ts';

/** What an action on a deployment answers. Source: docs/behaviour/deployments.md#actions. */
export interface DeploymentChanged {
  /** `''` when nothing is to be scheduled. */
  readonly EvalID: string;
  readonly EvalCreateIndex: number;
  readonly DeploymentModifyIndex: number;
  /** The job version that a failure went back to. */
  readonly RevertedJobVersion: number | null;
  readonly Index: number;
}

export interface Deployments {
  list(options?: ListOptions): Promise<Answer<readonly Deployment[]>>;
  /** `id` is whole; short ones are found with `list({ prefix })`. */
  read(id: string, options?: ReadOptions): Promise<Answer<Deployment>>;
  allocations(id: string, options?: ReadOptions): Promise<Answer<readonly AllocationStub[]>>;
  /** Ends it as failed; with `AutoRevert` on any of its groups the job goes back. */
  fail(id: string, options?: CallOptions): Promise<Answer<DeploymentChanged>>;
  pause(id: string, options?: CallOptions): Promise<Answer<DeploymentChanged>>;
  resume(id: string, options?: CallOptions): Promise<Answer<DeploymentChanged>>;
  /** `groups`: those by name; all that wait for it when absent. */
  promote(
    id: string,
    options?: CallOptions & { readonly groups?: readonly string[] | undefined },
  ): Promise<Answer<DeploymentChanged>>;
  unblock(id: string, options?: CallOptions): Promise<Answer<DeploymentChanged>>;
  /** Ids of allocations. One that is unhealthy fails the deployment. */
  setHealth(
    id: string,
    health: { readonly healthy?: readonly string[]; readonly unhealthy?: readonly string[] },
    options?: CallOptions,
  ): Promise<Answer<DeploymentChanged>>;
}

export function deploymentsOf(requester: Requester): Deployments {
  const act = (word: string, id: string, options: CallOptions | undefined, body: object = {}) =>
    requester.write<DeploymentChanged>('PUT', path`/v1/deployment/${word}/${id}`, options, {
      DeploymentID: id,
      ...body,
    });
  return {
    list: (options = {}) => requester.read('/v1/deployments', options, listQuery(options)),
    read: (id, options) => requester.read(path`/v1/deployment/${id}`, options),
    allocations: (id, options) => requester.read(path`/v1/deployment/allocations/${id}`, options),
    fail: (id, options) => act('fail', id, options),
    pause: (id, options) => act('pause', id, options, { Pause: true }),
    resume: (id, options) => act('pause', id, options, { Pause: false }),
    promote: (id, options = {}) => {
      const { groups } = options;
      return act('promote', id, options, groups === undefined ? { All: true } : { Groups: groups });
    },
    unblock: (id, options) => act('unblock', id, options),
    setHealth: (id, { healthy = [], unhealthy = [] }, options) =>
      act('allocation-health', id, options, {
        HealthyAllocationIDs: healthy,
        UnhealthyAllocationIDs: unhealthy,
      }),
  };
}
