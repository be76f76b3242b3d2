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
   * Only if the entry has this `ModifyIndex`. With 0, a write succeeds only if there is no entry,
   * and a delete never.
   */
  readonly cas?: number | undefined;
  /** Check everything and change nothing. */
  readonly dryRun?: boolean | undefined;
}

export function configEntriesOf(requester: Requester) {
  const { read, write } = callsOf<typeof configEntryEndpoints>(requester);
  return {
    /** The entries of one kind, or of all kinds, that the caller may read. */
    list: (kind?: string | undefined, { partition, ...options }: ListOptions & Placed = {}) => {
      const query = { ...listQuery(options), partition };
      if (kind === undefined) return read('GET /v1/config', {}, options, query);
      return read('GET /v1/config/:kind', { kind }, options, query);
    },
    read: (kind: string, name: string, { partition, ...options }: ReadOptions & Placed = {}) =>
      read('GET /v1/config/:kind/:name', { kind, name }, options, { partition }),
    /** Creates or replaces the entry; `false`: the guard failed. */
    write: (entry: object, { partition, cas, dryRun, ...options }: GuardedConfigEntry = {}) =>
      write('PUT /v1/config', {}, options, {
        body: entry,
        query: { partition, cas, dry_run: dryRun },
      }),
    /** `false`: the guard failed. */
    delete: (
      kind: string,
      name: string,
      { partition, cas, dryRun, ...options }: GuardedConfigEntry = {},
    ) =>
      write('DELETE /v1/config/:kind/:name', { kind, name }, options, {
        query: {
          partition,
          cas,
          dry_run: dryRun,
        },
      }),
  };
}

/** Services are named `NAME`, `NAMESPACE/NAME` or `PARTITION/NAMESPACE/NAME`. */
export interface IntentionQuestion extends CallOptions {
  readonly source: string;
  readonly destination: string;
  /** The peer of the source. */
  readonly sourcePeer?: string | undefined;
  /** The path of an HTTP request. */
  readonly path?: string | undefined;
  readonly method?: string | undefined;
  /** `NAME: VALUE` */
  readonly headers?: readonly string[] | undefined;
}

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
        source,
        destination,
        source_peer: sourcePeer,
        path: requested,
        method,
        ...(headers && { header: headers }),
      }),
    /** Which services may call which; by default the services of the namespace. */
    matrix: ({ names, ...options }: ReadOptions & { readonly names?: readonly string[] } = {}) =>
      read('GET /v1/connect/intentions/matrix', {}, options, { name: names }),
    /** The services that it may call (`source`), or that may call it (`destination`). */
    match: (by: 'source' | 'destination', name: string, options: ReadOptions = {}) =>
      read('GET /v1/connect/intentions/match', {}, options, { by, name: [name] }),
  };
}
