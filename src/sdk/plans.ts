import type { PlanRequest, planEndpoints } from '../contract/plan.ts';
import type { CarriedOut, PlanStub, ShownPlan } from '../model/kept-plan/shown-plan.ts';
import { callsOf } from './calls.ts';
import {
  type CallOptions,
  type ListOptions,
  listQuery,
  type ReadOptions,
  type Requester,
} from './requester.ts';

export type { CarriedOut, PlanRequest, PlanStub, ShownPlan };

/** Plans of acts, each carried out exactly as it was shown, or not at all. */
export type Plans = ReturnType<typeof plansOf>;

export function plansOf(requester: Requester) {
  const { read, write } = callsOf<typeof planEndpoints>(requester);
  return {
    /** Shows the effects of an act, and does nothing. */
    make: (request: PlanRequest, options?: CallOptions) =>
      write('POST /v1/plan', {}, options, { body: request }),
    list: (options: ListOptions = {}) => read('GET /v1/plans', {}, options, listQuery(options)),
    read: (id: string, options?: ReadOptions) => read('GET /v1/plan/:id', { id }, options),
    apply: (id: string, options?: CallOptions) => write('PUT /v1/plan/:id/apply', { id }, options),
    /** Plans the act of a plan on the newest state: a new plan, of this caller. */
    again: (id: string, options?: CallOptions) => write('PUT /v1/plan/:id/again', { id }, options),
    discard: (id: string, options?: CallOptions) => write('DELETE /v1/plan/:id', { id }, options),
  };
}
