import type { Bytes } from '../../codec.ts';

/** A key with its value, as etcd tells it. `lease`: id of the lease that the key lives with, or `'0'`. */
export interface KeyValue {
  readonly key: string;
  /** The caller's own in the answer to a range. */
  readonly value: Bytes;
  readonly createRevision: number;
  readonly modRevision: number;
  readonly lease: string;
}

/** Keys from `key` to `end`, which does not belong to them. Without `end`: the key alone. */
export interface KeySpan {
  readonly key: string;
  readonly end?: string | undefined;
}

export interface RangeRequest extends KeySpan {
  /** `undefined`: the newest one. */
  readonly revision?: number | undefined;
  readonly limit?: number | undefined;
  readonly keysOnly?: boolean | undefined;
  /** Any member answers by what it has, however old. Never used for what decides something. */
  readonly serializable?: boolean | undefined;
}

/** State of etcd, in every answer. */
export interface AnswerHeader {
  /** Id of the cluster of etcd itself. */
  readonly clusterId: string;
  readonly revision: number;
}

export interface RangeAnswer {
  readonly header: AnswerHeader;
  readonly keys: readonly KeyValue[];
  /** Whether there are more keys than the limit let through. */
  readonly more: boolean;
}

/** A condition of a transaction. */
export type Comparison =
  | {
      readonly key: string;
      readonly is: 'equal' | 'greater' | 'less';
      /** In the order of their bytes. A key that is absent meets none of these. */
      readonly value: Bytes;
    }
  | { readonly key: string; readonly is: 'absent' };

export type Operation =
  | { readonly kind: 'range'; readonly range: RangeRequest }
  | {
      readonly kind: 'put';
      readonly key: string;
      readonly value: Bytes;
      readonly lease?: string | undefined;
    }
  | ({ readonly kind: 'delete' } & KeySpan);

export interface TxnRequest {
  readonly compare: readonly Comparison[];
  readonly success: readonly Operation[];
  readonly failure?: readonly Operation[] | undefined;
}

export interface TxnAnswer {
  readonly header: AnswerHeader;
  readonly succeeded: boolean;
  /** Of each operation that is a range, in order. */
  readonly ranges: readonly (readonly KeyValue[])[];
}

export interface WatchEvent {
  readonly kind: 'put' | 'delete';
  readonly keyValue: KeyValue;
}

export interface WatchListener {
  /** Events are reported from now on. Earlier events may be missing. */
  began(): void;
  events(events: readonly WatchEvent[]): void;
}

/** A member of etcd, as it tells. */
export interface EtcdStatus {
  readonly endpoint: string;
  readonly version: string;
  /** Of the file of the database, which the quota counts. */
  readonly dbBytes: number;
  /** Without what a defragmentation would free. */
  readonly dbBytesInUse: number;
  /** `undefined`: this version of etcd does not tell. */
  readonly quotaBytes?: number | undefined;
}

/**
 * What the engine uses of etcd, and nothing else: KV, Lease, Watch, and the reading half of Maintenance.
 *
 * Each call rejects with an `EtcdError` in the end. Its answer may be that of a second delivery of the
 * same request.
 */
export interface EtcdClient {
  range(request: RangeRequest): Promise<RangeAnswer>;
  /** The values are sent as they are at the call. */
  transact(request: TxnRequest): Promise<TxnAnswer>;
  /** Forgets the history before the revision. */
  compact(revision: number): Promise<void>;
  /** Resolves with the id of the lease. */
  grantLease(ttlSeconds: number): Promise<string>;
  /** Resolves with whether the lease still exists. */
  keepAlive(lease: string): Promise<boolean>;
  revokeLease(lease: string): Promise<void>;
  /** Watches until the function that it returns is called; it begins again after every fault. */
  watch(span: KeySpan, listener: WatchListener): () => void;
  /** Of every endpoint that answers. Rejects if none does. */
  status(): Promise<readonly EtcdStatus[]>;
  /** Whether etcd takes no writes, as the database of a member has reached its quota. Any member knows that of all. */
  isOutOfSpace(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * `refused`: certainly not done, now or later. `no-space`: refused, as the database is full.
 * `denied`: refused, as the user may not do that. `compacted`: the revision is not there (any more).
 * `unknown`: perhaps done, or done at any later time.
 */
export type EtcdErrorKind = 'refused' | 'no-space' | 'denied' | 'compacted' | 'unknown';

export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  readonly kind: EtcdErrorKind;

  constructor(kind: EtcdErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

export const isUnknown = (error: unknown): boolean =>
  !(error instanceof EtcdError) || error.kind === 'unknown';

/** Whether a revision is not there: its history was compacted, or etcd came back older. */
export const isCompacted = (error: unknown): boolean =>
  error instanceof EtcdError && error.kind === 'compacted';

/** The keys that begin with the text. */
export function under(prefix: string): KeySpan {
  const last = prefix.charCodeAt(prefix.length - 1);
  return { key: prefix, end: prefix.slice(0, -1) + String.fromCharCode(last + 1) };
}
