import type { IntentionCheck, IntentionMatch } from '../model/config-entry/intention-answers.ts';
import {
  type Answer,
  type CallOptions,
  type ListOptions,
  listQuery,
  path,
  type ReadOptions,
  type Requester,
} from './requester.ts';

/** An entry as it is shown: durations are text. What else it has depends on its kind. */
export interface ShownConfigEntry {
  readonly Kind: string;
  readonly Name: string;
  readonly Namespace: string;
  readonly Partition: string;
  readonly Meta: Readonly<Record<string, string>> | null;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly [field: string]: unknown;
}

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

export interface ConfigEntries {
  /** Of one kind, or of all kinds; those that the caller may read. */
  list(
    kind?: string | undefined,
    options?: ListOptions & Placed,
  ): Promise<Answer<readonly ShownConfigEntry[]>>;
  read(
    kind: string,
    name: string,
    options?: ReadOptions & Placed,
  ): Promise<Answer<ShownConfigEntry>>;
  /** Makes it, or replaces it; `false` when the guard failed. */
  write(entry: object, options?: GuardedConfigEntry): Promise<Answer<boolean>>;
  /** `false` when the guard failed. */
  delete(kind: string, name: string, options?: GuardedConfigEntry): Promise<Answer<boolean>>;
}

export const configEntriesOf = (requester: Requester): ConfigEntries => ({
  list: (kind, { partition, ...options } = {}) =>
    requester.read(kind === undefined ? '/v1/config' : path`/v1/config/${kind}`, options, {
      ...listQuery(options),
      partition,
    }),
  read: (kind, name, { partition, ...options } = {}) =>
    requester.read(path`/v1/config/${kind}/${name}`, options, { partition }),
  write: (entry, { partition, cas, dryRun, ...options } = {}) =>
    requester.write('PUT', '/v1/config', options, entry, { partition, cas, dry_run: dryRun }),
  delete: (kind, name, { partition, cas, dryRun, ...options } = {}) =>
    requester.write('DELETE', path`/v1/config/${kind}/${name}`, options, undefined, {
      ...{ partition, cas, dry_run: dryRun },
    }),
});

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

export interface Intentions {
  /** Whether the source may call the destination, and why. */
  check(question: IntentionQuestion): Promise<Answer<IntentionCheck>>;
  /** What a service may call (`source`), or who may call it (`destination`). */
  match(
    by: 'source' | 'destination',
    name: string,
    options?: ReadOptions,
  ): Promise<Answer<IntentionMatch>>;
}

export const intentionsOf = (requester: Requester): Intentions => ({
  check: ({ source, destination, sourcePeer, path: requested, method, headers, ...options }) =>
    requester.read('/v1/connect/intentions/check', options, {
      ...{ source, destination, source_peer: sourcePeer, path: requested, method },
      ...(headers && { header: headers }),
    }),
  match: (by, name, options = {}) =>
    requester.read('/v1/connect/intentions/match', options, { by, name }),
});
