import type { Clock, Timer, Timers } from '../../../base/ports.ts';
import type { Bytes } from '../../codec.ts';
import {
  type Comparison,
  EtcdError,
  type KeySpan,
  type KeyValue,
  type Operation,
  type RangeAnswer,
  type RangeRequest,
  type TxnAnswer,
  type TxnRequest,
  type WatchEvent,
} from './client.ts';

/** A value of a key, or its deletion. */
interface Version {
  readonly revision: number;
  readonly keyValue: KeyValue | undefined;
}

interface Lease {
  endMs: number;
  readonly ttlMs: number;
  timer: Timer;
}

export interface Change {
  readonly revision: number;
  readonly events: readonly WatchEvent[];
}

/** All that etcd stores. */
export interface StoredCopy {
  readonly revision: number;
  readonly compacted: number;
  readonly versions: ReadonlyMap<string, readonly Version[]>;
}

// Not in limits: what a key and a revision take beside the value, as etcd stores them.
const overhead = 64;

/** The key-value store of etcd with its leases: what its Raft log applies, one request after the other. */
export class ModelStore {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #timers: Timers;
  readonly #applied: (change: Change) => void;
  /** The time for which leases outlive their end. */
  leaseExtraMs = 0;
  quotaBytes = Number.POSITIVE_INFINITY;
  isOutOfSpace = false;
  clusterId = '1001';
  revision = 1;
  compacted = 0;
  /** Size of the file, which only a defragmentation makes smaller. */
  fileBytes = 0;
  readonly leases = new Map<string, Lease>();
  #versions = new Map<string, Version[]>();
  #bytesInUse = 0;
  /** Names of all keys in order; `undefined` until somebody asks for a span. */
  #sorted: string[] | undefined;
  #history: Change[] = [];
  #lastLease = 0;

  constructor(
    clock: Pick<Clock, 'monotonicMs'>,
    timers: Timers,
    applied: (change: Change) => void,
  ) {
    this.#clock = clock;
    this.#timers = timers;
    this.#applied = applied;
  }

  get header() {
    return { clusterId: this.clusterId, revision: this.revision };
  }

  /** The changes that are not compacted. */
  get history(): readonly Change[] {
    return this.#history;
  }

  get bytesInUse(): number {
    return this.#bytesInUse;
  }

  range({ key, end, limit, keysOnly, ...request }: RangeRequest): RangeAnswer {
    const revision = request.revision ?? this.revision;
    if (revision < this.compacted) throw new EtcdError('compacted', 'the revision was compacted');
    if (revision > this.revision)
      throw new EtcdError('compacted', 'required revision is a future revision');
    const found: KeyValue[] = [];
    for (const keyValue of this.#stored({ key, end }, revision)) {
      found.push({ ...keyValue, value: keysOnly ? new Uint8Array() : keyValue.value.slice() });
      if (limit !== undefined && found.length > limit) break;
    }
    const more = limit !== undefined && found.length > limit;
    return { header: this.header, keys: more ? found.slice(0, limit) : found, more };
  }

  /** All that is stored under these keys now. The caller does not change it. */
  look(span: KeySpan): Iterable<KeyValue> {
    return this.#stored(span, this.revision);
  }

  *#stored(span: KeySpan, revision: number): Iterable<KeyValue> {
    for (const name of this.#names(span)) {
      const keyValue = this.#at(name, revision);
      if (keyValue !== undefined) yield keyValue;
    }
  }

  transact({ compare, success, failure = [] }: TxnRequest): TxnAnswer {
    const puts = [...success, ...failure].filter(({ kind }) => kind === 'put');
    if (puts.length > 0 && this.#isFull())
      throw new EtcdError('no-space', 'database space exceeded');
    const succeeded = compare.every((comparison) => this.#isMet(comparison));
    const operations = succeeded ? success : failure;
    const revision = this.revision + 1;
    const events: WatchEvent[] = [];
    const ranges: (readonly KeyValue[])[] = [];
    for (const operation of operations) this.#run(operation, { revision, events, ranges });
    if (events.length > 0) this.#apply({ revision, events });
    return { header: this.header, succeeded, ranges };
  }

  compact(revision: number): void {
    if (revision <= this.compacted || revision > this.revision) {
      throw new EtcdError('compacted', 'the revision was compacted');
    }
    this.compacted = revision;
    this.#history = this.#history.filter((change) => change.revision > revision);
    for (const [key, versions] of this.#versions) {
      const last = versions.findLastIndex((version) => version.revision <= revision);
      const kept = versions.slice(Math.max(last, 0));
      for (const dropped of versions.slice(0, Math.max(last, 0)))
        this.#bytesInUse -= sizeOf(dropped);
      if (kept.length === 1 && kept[0]!.keyValue === undefined) {
        this.#versions.delete(key);
        this.#bytesInUse -= sizeOf(kept[0]!);
      } else this.#versions.set(key, kept);
    }
    this.#sorted = undefined;
  }

  defragment(): void {
    this.fileBytes = this.bytesInUse;
  }

  disarm(): void {
    this.isOutOfSpace = false;
  }

  grant(ttlSeconds: number): string {
    if (this.#isFull()) throw new EtcdError('no-space', 'database space exceeded');
    const id = String(++this.#lastLease);
    const ttlMs = ttlSeconds * 1000;
    this.leases.set(id, { ttlMs, endMs: 0, timer: { clear() {} } });
    this.keepAlive(id);
    return id;
  }

  keepAlive(id: string): boolean {
    const lease = this.leases.get(id);
    if (lease === undefined) return false;
    const lifeMs = lease.ttlMs + this.leaseExtraMs;
    lease.endMs = this.#clock.monotonicMs() + lifeMs;
    lease.timer.clear();
    lease.timer = this.#timers.after(lifeMs, () => this.expire(id));
    return true;
  }

  /** The lease is over, however long it had to live. */
  expire(id: string): void {
    this.leases.get(id)?.timer.clear();
    if (!this.leases.delete(id)) return;
    const bound = this.range({ key: '\0', end: '\uffff' }).keys.filter(({ lease }) => lease === id);
    if (bound.length === 0) return;
    const revision = this.revision + 1;
    const events = bound.map((keyValue) => ({ kind: 'delete' as const, keyValue }));
    for (const { keyValue } of events) this.#write(keyValue.key, revision, undefined);
    this.#apply({ revision, events });
  }

  copy(): StoredCopy {
    const versions = new Map([...this.#versions].map(([key, all]) => [key, [...all]]));
    return { revision: this.revision, compacted: this.compacted, versions };
  }

  /** Goes back to older data. All leases have ended. */
  restore({ revision, compacted, versions }: StoredCopy): void {
    for (const { timer } of this.leases.values()) timer.clear();
    this.leases.clear();
    this.revision = revision;
    this.compacted = compacted;
    this.#versions = new Map([...versions].map(([key, all]) => [key, [...all]]));
    this.#bytesInUse = [...versions.values()].flat().reduce((sum, one) => sum + sizeOf(one), 0);
    this.#sorted = undefined;
    this.#history = [];
    for (const { key, lease } of this.range({ key: '\0', end: '\uffff' }).keys) {
      if (lease !== '0') this.transact({ compare: [], success: [{ kind: 'delete', key }] });
    }
  }

  #isFull(): boolean {
    if (this.fileBytes > this.quotaBytes) this.isOutOfSpace = true;
    return this.isOutOfSpace;
  }

  #isMet(comparison: Comparison): boolean {
    const found = this.#at(comparison.key, this.revision);
    if (comparison.is === 'absent') return found === undefined;
    if (found === undefined) return false;
    const order = Buffer.compare(found.value, comparison.value);
    if (comparison.is === 'equal') return order === 0;
    return comparison.is === 'greater' ? order > 0 : order < 0;
  }

  #run(
    operation: Operation,
    into: { revision: number; events: WatchEvent[]; ranges: (readonly KeyValue[])[] },
  ): void {
    const { revision, events, ranges } = into;
    if (operation.kind === 'range') {
      ranges.push(this.range({ ...operation.range, revision: undefined }).keys);
    } else if (operation.kind === 'put') {
      const { key, value, lease = '0' } = operation;
      if (lease !== '0' && !this.leases.has(lease)) {
        throw new EtcdError('refused', 'requested lease not found');
      }
      const createRevision = this.#at(key, revision)?.createRevision ?? revision;
      const stored: Bytes = new Uint8Array(value);
      const keyValue = { key, value: stored, createRevision, modRevision: revision, lease };
      this.#write(key, revision, keyValue);
      events.push({ kind: 'put', keyValue });
    } else {
      for (const key of this.#names(operation)) {
        const keyValue = this.#at(key, revision);
        if (keyValue === undefined) continue;
        this.#write(key, revision, undefined);
        events.push({ kind: 'delete', keyValue: { ...keyValue, value: new Uint8Array() } });
      }
    }
  }

  #apply(change: Change): void {
    this.revision = change.revision;
    this.#history.push(change);
    this.#applied(change);
  }

  #write(key: string, revision: number, keyValue: KeyValue | undefined): void {
    const versions = this.#versions.get(key);
    const version = { revision, keyValue };
    if (versions !== undefined) versions.push(version);
    else {
      this.#versions.set(key, [version]);
      this.#sorted?.splice(firstFrom(this.#sorted, key), 0, key);
    }
    this.#bytesInUse += sizeOf(version);
    this.fileBytes += sizeOf(version);
  }

  #at(key: string, revision: number): KeyValue | undefined {
    return this.#versions.get(key)?.findLast((version) => version.revision <= revision)?.keyValue;
  }

  #names({ key, end }: KeySpan): string[] {
    if (end === undefined) return this.#versions.has(key) ? [key] : [];
    this.#sorted ??= [...this.#versions.keys()].sort();
    return this.#sorted.slice(firstFrom(this.#sorted, key), firstFrom(this.#sorted, end));
  }
}

const sizeOf = ({ keyValue }: Version): number => overhead + (keyValue?.value.byteLength ?? 0);

/** Place of the first name that is not before the key. */
function firstFrom(names: readonly string[], key: string): number {
  let [least, most] = [0, names.length];
  while (least < most) {
    const middle = (least + most) >> 1;
    if (names[middle]! < key) least = middle + 1;
    else most = middle;
  }
  return least;
}
