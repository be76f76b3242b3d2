import type { AllocationStub } from '../model/allocation/allocation-stub.ts';
import type { EvaluationStub } from '../model/evaluation/evaluation-stub.ts';
import type { PresentedEvaluation } from '../model/evaluation/present.ts';
import {
  type Answer,
  type CallOptions,
  type ListOptions,
  listQuery,
  path,
  type ReadOptions,
  type Requester,
} from './requester.ts';

export interface EvaluationListOptions extends ListOptions {
  /** Not together with `filter`, like `status`. */
  readonly job?: string | undefined;
  readonly status?: string | undefined;
}

export interface Evaluations {
  list(options?: EvaluationListOptions): Promise<Answer<readonly PresentedEvaluation[]>>;
  count(
    options?: ReadOptions & { readonly filter?: string | undefined },
  ): Promise<Answer<{ readonly Count: number }>>;
  /** With `related` it carries those that led to it and that follow from it. */
  read(
    id: string,
    options?: ReadOptions & { readonly related?: boolean },
  ): Promise<Answer<PresentedEvaluation & { readonly RelatedEvals?: readonly EvaluationStub[] }>>;
  /** The allocations that it placed or changed. */
  allocations(id: string, options?: ReadOptions): Promise<Answer<readonly AllocationStub[]>>;
  /** Forgets those that are named, or those of the namespace that the filter fits. */
  delete(
    which: { readonly ids: readonly string[] } | { readonly filter: string },
    options?: CallOptions,
  ): Promise<Answer<{ readonly Count: number }>>;
}

export const evaluationsOf = (requester: Requester): Evaluations => ({
  list: (options = {}) =>
    requester.read('/v1/evaluations', options, {
      ...listQuery(options),
      job: options.job || undefined,
      status: options.status || undefined,
    }),
  count: (options = {}) =>
    requester.read('/v1/evaluations/count', options, { filter: options.filter || undefined }),
  read: (id, options = {}) =>
    requester.read(path`/v1/evaluation/${id}`, options, { related: options.related || undefined }),
  allocations: (id, options) => requester.read(path`/v1/evaluation/${id}/allocations`, options),
  delete: (which, options) =>
    requester.write('DELETE', '/v1/evaluations', options, {
      ...('ids' in which ? { EvalIDs: which.ids } : { Filter: which.filter }),
    }),
});
