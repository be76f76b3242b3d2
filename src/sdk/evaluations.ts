import type { AnswerOf } from '../contract/endpoint.ts';
import type { evaluationEndpoints } from '../contract/evaluation.ts';
import { callsOf } from './calls.ts';
import {
  type CallOptions,
  type ListOptions,
  listQuery,
  type ReadOptions,
  type Requester,
} from './requester.ts';
import { byStatus, type WaitOptions, waitUntil } from './wait.ts';

export interface EvaluationListOptions extends ListOptions {
  /** Cannot be combined with `filter`, and neither can `status`. */
  readonly job?: string | undefined;
  readonly status?: string | undefined;
}

type Found = AnswerOf<(typeof evaluationEndpoints)['read']>;

export type Evaluations = ReturnType<typeof evaluationsOf>;

export function evaluationsOf(requester: Requester) {
  const { read, write } = callsOf<typeof evaluationEndpoints>(requester);
  return {
    list: (options: EvaluationListOptions = {}) =>
      read('GET /v1/evaluations', {}, options, {
        ...listQuery(options),
        job: options.job || undefined,
        status: options.status || undefined,
      }),
    count: (options: ReadOptions & { readonly filter?: string | undefined } = {}) =>
      read('GET /v1/evaluations/count', {}, options, { filter: options.filter || undefined }),
    /** With `related`, the evaluations before and after it are included. */
    read: (id: string, options: ReadOptions & { readonly related?: boolean } = {}) =>
      read('GET /v1/evaluation/:eval_id', { eval_id: id }, options, {
        related: options.related || undefined,
      }),
    /**
     * Rejects with `WaitError` if it fails, is canceled, or takes too long. A complete evaluation may have placed
     * less than was wanted: `BlockedEval` names the evaluation that waits for room, and `FailedTGAllocs` why.
     */
    waitUntilComplete: (id: string, options?: WaitOptions) =>
      waitUntil(
        requester,
        {
          read: (of) => read('GET /v1/evaluation/:eval_id', { eval_id: id }, of),
          judge: byStatus<Found>('evaluation', 'complete', ['failed', 'canceled']),
          unmet: (last) => `The evaluation "${id}" is ${last?.Status}, not complete,`,
        },
        options,
      ),
    /** The allocations that it placed or changed. */
    allocations: (id: string, options?: ReadOptions) =>
      read('GET /v1/evaluation/:eval_id/allocations', { eval_id: id }, options),
    /** Deletes the given evaluations, or the matching ones of the namespace. */
    delete: (
      which: { readonly ids: readonly string[] } | { readonly filter: string },
      options?: CallOptions,
    ) =>
      write('DELETE /v1/evaluations', {}, options, {
        body: {
          ...('ids' in which ? { EvalIDs: which.ids } : { Filter: which.filter }),
        },
      }),
  };
}
