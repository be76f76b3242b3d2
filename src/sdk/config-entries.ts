import type { configEntryEndpoints, ShownConfigEntry } from '../contract/config-entry.ts';
import type { intentionEndpoints } from '../contract/intention.ts';
import { callsOf } from './calls.ts';
import {
  type CallOptions,
  type ListOptions,
  listQuery,
  type ReadOptions,
  type Requester,
} from './requester.ts';

export type { ShownConfigEntry };

interface Placed {
  readonly partition?: string | undefined;
}

export interface GuardedConfigEntry extends CallOptions, Placed {
  /**
   * Only if the entry has that `ModifyIndex`. 0: a write only if there is none, a delete never.
   */
  readonly cas?: number | undefined;
  /** Everything is checked, and nothing is kept. */
  readonly dryRun?: boolean | undefined;
}

export type ConfigEntries = ReturnType<typeof configEntriesOf>;

export function configEntriesOf(requester: Requester) {
  const { read, write } = callsOf<typeof configEntryEndpoints>(requester);
  return {
    /** Of one kind, or of all kinds; those that the caller may read. */
    list: (kind?: string | undefined, { partition, ...options }: ListOptions & Placed = {}) => {
      const query = { ...listQuery(options), partition };
      if (kind === undefined) return read('GET /v1/config', {}, options, query);
      return read('GET /v1/config/:kind', { kind }, options, query);
    },
    read: (kind: string, name: string, { partition, ...options }: ReadOptions & Placed = {}) =>
      read('GET /v1/config/:kind/:name', { kind, name }, options, { partition }),
    /** Makes it, or replaces it; `false` when the guard failed. */
    write: (entry: object, { partition, cas, dryRun, ...options }: GuardedConfigEntry = {}) =>
      write('PUT /v1/config', {}, options, entry, { partition, cas, dry_run: dryRun }),
    /** `false` when the guard failed. */
    delete: (
      kind: string,
      name: string,
      { partition, cas, dryRun, ...options }: GuardedConfigEntry = {},
    ) =>
      write('DELETE /v1/config/:kind/:name', { kind, name }, options, undefined, {
        ...{ partition, cas, dry_run: dryRun },
      }),
  };
}

/** Services are named NAME, NAMESPACE/NAME or PARTITION/NAMESPACE/NAME. */
export interface IntentionQuestion extends CallOptions {
  readonly source: string;
  readonly destination: string;
  /** The peer that the source is of. */
  readonly sourcePeer?: string | undefined;
  /** Of a request. */
  readonly path?: string | undefined;
  readonly method?: string | undefined;
  /** `NAME: VALUE` */
  readonly headers?: readonly string[] | undefined;
}

export type Intentions = ReturnType<typeof intentionsOf>;

export function intentionsOf(requester: Requester) {
  const { read } = callsOf<typeof intentionEndpoints>(requester);
  return {
    /** Whether the source may call the destination, and why. */
    check: ({
      source,
      destination,
      sourcePeer,
      path: requested,
      method,
      headers,
      ...options
    }: IntentionQuestion) =>
      read('GET /v1/connect/intentions/check', {}, options, {
        ...{ source, destination, source_peer: sourcePeer, path: requested, method },
        ...(headers && { header: headers }),
      }),
    /** What a service may call (`source`), or who may call it (`destination`). */
    match: (by: 'source' | 'destination', name: string, options: ReadOptions = {}) =>
      read('GET /v1/connect/intentions/match', {}, options, { by, name: [name] }),
  };
}
