import type { AllocationStub } from '../model/allocation/allocation-stub.ts';
import type { Evaluation } from '../model/evaluation/evaluation.ts';
import {
  type Answer,
  type ListOptions,
  listQuery,
  path,
  type ReadOptions,
  type Requester,
} from './requester.ts';

export interface Evaluations {
  list(options?: ListOptions): Promise<Answer<readonly Evaluation[]>>;
  read(id: string, options?: ReadOptions): Promise<Answer<Evaluation>>;
  /** The allocations that it placed or changed. */
  allocations(id: string, options?: ReadOptions): Promise<Answer<readonly AllocationStub[]>>;
}

export const evaluationsOf = (requester: Requester): Evaluations => ({
  list: (options = {}) => requester.read('/v1/evaluations', options, listQuery(options)),
  read: (id, options) => requester.read(path`/v1/evaluation/${id}`, options),
  allocations: (id, options) => requester.read(path`/v1/evaluation/${id}/allocations`, options),
});
