/** A model of etcd in the process, on simulated time, which can misbehave as etcd may. */
import type { Clock, Random, Timers } from '../../../base/ports.ts';
import {
  type EtcdClient,
  EtcdError,
  type EtcdStatus,
  type KeySpan,
  type Operation,
  type RangeAnswer,
  type RangeRequest,
  type TxnAnswer,
  type TxnRequest,
  type WatchEvent,
  type WatchListener,
} from './client.ts';
import { type Change, ModelStore, type StoredCopy } from './model-store.ts';

/**
 * What becomes of a request. `lost`: it never arrives. `no answer`: it is applied at once, its answer is
 * lost. `late`: it is applied after its sender has given it up. `twice`: it arrives twice, and the second
 * answer is told. `again`: it arrives once more, much later.
 */
export type Fate = 'arrives' | 'lost' | 'no answer' | 'late' | 'twice' | 'again';

/** Deliveries of an event: the delay of each. None: the event is lost. */
export type Deliveries = readonly number[];

/** A request on the point of leaving its process. */
export type Leaving =
  | { readonly kind: 'range'; readonly range: RangeRequest }
  | { readonly kind: 'change'; readonly change: TxnRequest }
  | { readonly kind: 'compaction' };

export interface ModelFaults {
  /** Holds a request back in its process until the promise resolves. */
  hold?: ((request: Leaving, client: ModelClient) => Promise<void> | undefined) | undefined;
  /** Time of a request on its way to etcd, and of the answer on its way back. */
  delayMs?: (() => number) | undefined;
  fate?: ((request: TxnRequest, client: ModelClient) => Fate) | undefined;
  /** The delay of a late request after its sender has given it up. */
  lateMs?: (() => number) | undefined;
  deliveries?: ((event: WatchEvent, client: ModelClient) => Deliveries) | undefined;
  /** How many revisions a serializable read of the client is behind: its member of etcd may not hear of the others. */
  lag?: ((client: ModelClient) => number) | undefined;
}

export interface ModelOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly timers: Timers;
  readonly random: Random;
  /** After this time a request without an answer is given up. */
  readonly callMs: number;
  /** Called with each transaction that was applied, in order. */
  readonly applied?: (request: TxnRequest) => void;
}

export class ModelOfEtcd {
  readonly faults: ModelFaults = {};
  readonly store: ModelStore;
  readonly options: ModelOptions;
  version = '3.6.16';
  isMaintenanceDenied = false;
  /** Whether questions about its size and alarms have no answer. */
  isMaintenanceSilent = false;
  isCompactionDenied = false;
  readonly #clients = new Set<ModelClient>();

  constructor(options: ModelOptions) {
    this.options = options;
    this.store = new ModelStore(options.clock, options.timers, (change) => {
      for (const client of this.#clients) client.hear(change);
    });
  }

  /** @param deliver brings an answer or an event into the process, which may be asleep or dead */
  connect(deliver: (run: () => void) => void = (run) => run()): ModelClient {
    const client = new ModelClient(this, deliver);
    this.#clients.add(client);
    return client;
  }

  forget(client: ModelClient): void {
    this.#clients.delete(client);
  }

  /** A value of a key as text. */
  text(key: string): string | undefined {
    const [found] = this.store.range({ key }).keys;
    return found && Buffer.from(found.value).toString();
  }

  /** Names of all keys. */
  get names(): string[] {
    return this.store.range({ key: '\0', end: '\uffff' }).keys.map(({ key }) => key);
  }

  /** Ends the lease of whoever holds the leader key. */
  depose(key: string): void {
    const [found] = this.store.range({ key }).keys;
    if (found !== undefined) this.store.expire(found.lease);
  }

  /** Etcd comes back with older data, under the same cluster id or another one. */
  restore(copy: StoredCopy, clusterId = this.store.clusterId): void {
    this.store.restore(copy);
    this.store.clusterId = clusterId;
    for (const client of this.#clients) client.breakWatches();
  }
}

interface Watching {
  readonly span: KeySpan;
  readonly listener: WatchListener;
  isOver: boolean;
}

/** The connection of a single process. */
export class ModelClient implements EtcdClient {
  readonly #model: ModelOfEtcd;
  readonly #deliverTo: (run: () => void) => void;
  readonly #watches = new Set<Watching>();
  /** No request and no event gets through. */
  isCutOff = false;
  #isDead = false;

  constructor(model: ModelOfEtcd, deliver: (run: () => void) => void) {
    this.#model = model;
    this.#deliverTo = deliver;
  }

  range(request: RangeRequest): Promise<RangeAnswer> {
    return this.#holdBack({ kind: 'range', range: request }, () =>
      this.#sendRequest('arrives', ({ store, faults }) => {
        if (request.serializable !== true) return store.range(request);
        const revision = Math.max(store.compacted, store.revision - (faults.lag?.(this) ?? 0));
        return store.range({ revision, ...request });
      }),
    );
  }

  transact(given: TxnRequest): Promise<TxnAnswer> {
    const request = sentForm(given);
    return this.#holdBack({ kind: 'change', change: request }, () => {
      const fate = this.#model.faults.fate?.(request, this) ?? 'arrives';
      return this.#sendRequest(fate, (model) => {
        const answer = model.store.transact(request);
        if (answer.succeeded) model.options.applied?.(request);
        return answer;
      });
    });
  }

  compact(revision: number): Promise<void> {
    return this.#holdBack({ kind: 'compaction' }, () =>
      this.#sendRequest('arrives', ({ store, isCompactionDenied }) => {
        if (isCompactionDenied) throw new EtcdError('denied', 'permission denied');
        store.compact(revision);
      }),
    );
  }

  grantLease(ttlSeconds: number): Promise<string> {
    return this.#sendRequest('arrives', ({ store }) => store.grant(ttlSeconds));
  }

  keepAlive(lease: string): Promise<boolean> {
    return this.#sendRequest('arrives', ({ store }) => store.keepAlive(lease));
  }

  revokeLease(lease: string): Promise<void> {
    return this.#sendRequest('arrives', ({ store }) => store.expire(lease));
  }

  status(): Promise<readonly EtcdStatus[]> {
    return this.#maintain(({ store, version }) => [
      {
        endpoint: 'the model',
        version,
        dbBytes: store.fileBytes,
        dbBytesInUse: store.bytesInUse,
      },
    ]);
  }

  isOutOfSpace(): Promise<boolean> {
    return this.#maintain(({ store }) => store.isOutOfSpace);
  }

  #maintain<T>(run: (model: ModelOfEtcd) => T): Promise<T> {
    return this.#sendRequest(this.#model.isMaintenanceSilent ? 'lost' : 'arrives', (model) => {
      if (model.isMaintenanceDenied) throw new EtcdError('denied', 'permission denied');
      return run(model);
    });
  }

  watch(span: KeySpan, listener: WatchListener): () => void {
    const watching = { span, listener, isOver: false };
    this.#watches.add(watching);
    this.#begin(watching);
    return () => {
      watching.isOver = true;
      this.#watches.delete(watching);
    };
  }

  async close(): Promise<void> {
    this.crash();
  }

  /** The process is gone: it sends and hears nothing more. */
  crash(): void {
    this.#isDead = true;
    this.#watches.clear();
    this.#model.forget(this);
  }

  /** The connection of its watches breaks, and they begin again. */
  breakWatches(): void {
    for (const watching of this.#watches) this.#begin(watching);
  }

  hear({ events }: Change): void {
    if (this.isCutOff) return;
    const { faults, options } = this.#model;
    for (const watching of this.#watches) {
      const { key, end = `${key}\0` } = watching.span;
      const heard = events.filter(({ keyValue: { key: name } }) => name >= key && name < end);
      if (faults.deliveries === undefined) {
        if (heard.length > 0) this.#deliver(watching, heard, this.#delayMs());
        continue;
      }
      for (const event of heard) {
        for (const delayMs of faults.deliveries(event, this)) {
          options.timers.after(delayMs, () => this.#deliver(watching, [event], 0));
        }
      }
    }
  }

  /** Reports earlier events once more. */
  backdate(): void {
    for (const change of this.#model.store.history) this.hear(change);
  }

  #begin(watching: Watching): void {
    this.#model.options.timers.after(this.#delayMs(), () => {
      this.#arrive(() => !watching.isOver && watching.listener.began());
    });
  }

  #deliver(watching: Watching, events: readonly WatchEvent[], delayMs: number): void {
    this.#model.options.timers.after(delayMs, () => {
      this.#arrive(() => !watching.isOver && watching.listener.events(events));
    });
  }

  /** A message reaches the process, unless the process is dead or cut off. */
  #arrive(run: () => void): void {
    if (this.#isDead || this.isCutOff) return;
    this.#deliverTo(() => {
      if (!this.#isDead) run();
    });
  }

  #delayMs(): number {
    return this.#model.faults.delayMs?.() ?? 0;
  }

  #holdBack<T>(request: Leaving, send: () => Promise<T>): Promise<T> {
    const held = this.#model.faults.hold?.(request, this);
    return held === undefined ? send() : held.then(send);
  }

  #sendRequest<T>(fate: Fate, run: (model: ModelOfEtcd) => T): Promise<T> {
    const model = this.#model;
    const { timers, callMs } = model.options;
    return new Promise<T>((resolve, reject) => {
      let isTold = false;
      const giveUp = () => {
        if (!isTold) reject(new EtcdError('unknown', 'etcd did not answer in time'));
      };
      timers.after(callMs, () => !this.#isDead && this.#deliverTo(giveUp));
      if (fate === 'lost' || this.#isDead || this.isCutOff) return;
      const lateMs = callMs + (model.faults.lateMs?.() ?? 0);
      timers.after(fate === 'late' ? lateMs : this.#delayMs(), () => {
        const answer = attempt(() => run(model));
        if (fate === 'late' || fate === 'no answer') return;
        if (fate === 'again') timers.after(lateMs, () => attempt(() => run(model)));
        const told = fate === 'twice' ? attempt(() => run(model)) : answer;
        timers.after(this.#delayMs(), () =>
          this.#arrive(() => {
            isTold = true;
            if ('error' in told) reject(told.error);
            else resolve(told.value);
          }),
        );
      });
    });
  }
}

/** A copy of the request with bytes of its own, since the caller may free its bytes while the request is on its way. */
const sentForm = ({ compare, success, failure }: TxnRequest): TxnRequest => ({
  compare,
  success: success.map(ownValue),
  failure: failure?.map(ownValue),
});

const ownValue = (operation: Operation): Operation =>
  operation.kind === 'put' ? { ...operation, value: operation.value.slice() } : operation;

function attempt<T>(run: () => T): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: run() };
  } catch (error) {
    return { error };
  }
}
