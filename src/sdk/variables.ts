import type { variableEndpoints } from '../contract/variable.ts';
import { callsOf } from './calls.ts';
import {
  type CallOptions,
  type ListOptions,
  listQuery,
  type ReadOptions,
  type Requester,
} from './requester.ts';

/** `cas`: only if the variable has this `ModifyIndex`; 0: only if there is none. */
export interface GuardedVariable extends CallOptions {
  readonly cas?: number | undefined;
}

export type Variables = ReturnType<typeof variablesOf>;

export function variablesOf(requester: Requester) {
  const { read, write } = callsOf<typeof variableEndpoints>(requester);
  return {
    /** Without their items. */
    list: (options: ListOptions = {}) => read('GET /v1/vars', {}, options, listQuery(options)),
    read: (path: string, options?: ReadOptions) => read('GET /v1/var/:path+', { path }, options),
    /** Creates the variable or replaces its items. A failed guard is a 409 with `conflict`. */
    write: (path: string, Items: Readonly<Record<string, string>>, options: GuardedVariable = {}) =>
      write('PUT /v1/var/:path+', { path }, options, {
        body: { Items },
        query: { cas: options.cas },
      }),
    /** `false`: there was no such variable. */
    delete: (path: string, options: GuardedVariable = {}) =>
      write('DELETE /v1/var/:path+', { path }, options, { query: { cas: options.cas } }),
  };
}
