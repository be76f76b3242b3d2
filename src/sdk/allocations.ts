import type { AllocationStub } from '../model/allocation/allocation-stub.ts';
import type { WholeAllocation } from '../model/allocation/present.ts';
import type { AllocationUsage } from '../model/allocation/resource-usage.ts';
import type { CheckResult } from '../model/check-result/check-result.ts';
import type { ServiceRegistration } from '../model/service-registration/service-registration.ts';
import {
  type Answer,
  type CallOptions,
  type ListOptions,
  listQuery,
  path,
  type ReadOptions,
  type Requester,
} from './requester.ts';

export interface AllocationListOptions extends ListOptions {
  /** Carry `AllocatedResources`. */
  readonly resources?: boolean | undefined;
  /** Default true. */
  readonly taskStates?: boolean | undefined;
}

export interface AllocationStopped {
  readonly EvalID: string;
  readonly Index: number;
}

export interface Allocations {
  list(options?: AllocationListOptions): Promise<Answer<readonly AllocationStub[]>>;
  /** `id` is whole; short ones are found with `list({ prefix })`. */
  read(id: string, options?: ReadOptions): Promise<Answer<WholeAllocation>>;
  /** The services that it has registered. */
  services(id: string, options?: ListOptions): Promise<Answer<readonly ServiceRegistration[]>>;
  /** How its checks fare, by their ids; only its node knows. */
  checks(id: string, options?: CallOptions): Promise<Answer<Readonly<Record<string, CheckResult>>>>;
  /** Stops it; the scheduler then decides whether another takes its place. */
  stop(
    id: string,
    options?: CallOptions & { readonly noShutdownDelay?: boolean; readonly reschedule?: boolean },
  ): Promise<Answer<AllocationStopped>>;
  /** Restarts a task, or all that run; with `all` those as well that have done their work. */
  restart(
    id: string,
    wish?: { readonly task?: string | undefined; readonly all?: boolean },
    options?: CallOptions,
  ): Promise<Answer<object>>;
  /** Sends a signal to a task, or to all that run. */
  signal(
    id: string,
    signal: string,
    task?: string | undefined,
    options?: CallOptions,
  ): Promise<Answer<object>>;
  /** What its tasks use now. */
  usage(id: string, options?: CallOptions): Promise<Answer<AllocationUsage>>;
  /** Removes one that is over, with its files, from its node. */
  collect(id: string, options?: CallOptions): Promise<Answer<object>>;
}

export const allocationsOf = (requester: Requester): Allocations => ({
  list: (options = {}) =>
    requester.read('/v1/allocations', options, {
      ...listQuery(options),
      resources: options.resources || undefined,
      task_states: options.taskStates,
    }),
  read: (id, options) => requester.read(path`/v1/allocation/${id}`, options),
  services: (id, options = {}) =>
    requester.read(path`/v1/allocation/${id}/services`, options, listQuery(options)),
  checks: (id, options) => requester.read(path`/v1/allocation/${id}/checks`, options),
  stop: (id, options = {}) =>
    requester.write('PUT', path`/v1/allocation/${id}/stop`, options, undefined, {
      no_shutdown_delay: options.noShutdownDelay || undefined,
      reschedule: options.reschedule || undefined,
    }),
  restart: (id, { task = '', all = false } = {}, options) =>
    requester.write('PUT', path`/v1/client/allocation/${id}/restart`, options, {
      ...{ TaskName: task, AllTasks: all },
    }),
  signal: (id, Signal, Task = '', options) =>
    requester.write('PUT', path`/v1/client/allocation/${id}/signal`, options, { Task, Signal }),
  usage: (id, options) => requester.read(path`/v1/client/allocation/${id}/stats`, options),
  collect: (id, options) => requester.read(path`/v1/client/allocation/${id}/gc`, options),
});
