import type { Variable, VariableMetadata } from '../model/variable/variable.ts';
import {
  type Answer,
  type CallOptions,
  type ListOptions,
  listQuery,
  path as pathOf,
  type ReadOptions,
  type Requester,
} from './requester.ts';

/** `cas`: only if the variable has that `ModifyIndex`; 0: only if there is none. */
export interface GuardedVariable extends CallOptions {
  readonly cas?: number | undefined;
}

export interface Variables {
  /** Without what is in them. */
  list(options?: ListOptions): Promise<Answer<readonly VariableMetadata[]>>;
  read(path: string, options?: ReadOptions): Promise<Answer<Variable>>;
  /** Makes it, or replaces its items. Where the guard fails: 409, with `conflict`. */
  write(
    path: string,
    items: Readonly<Record<string, string>>,
    options?: GuardedVariable,
  ): Promise<Answer<Variable>>;
  /** `false` when there was none. */
  delete(path: string, options?: GuardedVariable): Promise<Answer<boolean>>;
}

export const variablesOf = (requester: Requester): Variables => ({
  list: (options = {}) => requester.read('/v1/vars', options, listQuery(options)),
  read: (path, options) => requester.read(pathOf`/v1/var/${path}`, options),
  write: (path, Items, options = {}) =>
    requester.write('PUT', pathOf`/v1/var/${path}`, options, { Items }, { cas: options.cas }),
  delete: (path, options = {}) =>
    requester.write('DELETE', pathOf`/v1/var/${path}`, options, undefined, { cas: options.cas }),
});
