import type { Timers } from '../../../base/ports.ts';
import { SimulatedWorld, seededRandom } from '../../../base/ports-simulated.ts';
import type { Bytes } from '../../codec.ts';
import {
  type Bench,
  type BenchEngine,
  type BenchServer,
  BenchServers,
  simulatedDuring,
  simulatedUntil,
} from '../shared-engine.test-helper.ts';
import type { EtcdClient, TxnRequest } from './client.ts';
import { EtcdEngine } from './etcd.ts';
import { decodeHead, encodeHead, type LogHead } from './head.ts';
import { Keys } from './keys.ts';
import type { EtcdLimits } from './limits.ts';
import type { CopyRecord, LocalCopy } from './local-copy.ts';
import { decodeEntry } from './log-entry.ts';
import { type Fate, type ModelClient, ModelOfEtcd } from './model.ts';
import type { Seen, SeenLog } from './seen.ts';

export const testLimits = {
  leaseTtlMs: 1000,
  beatMs: 250,
  campaignJitterMs: 20,
  successionMs: 200,
  callMs: 400,
  settleMs: 2000,
  retryMs: 50,
  startMs: 5000,
} satisfies Partial<EtcdLimits>;

export const prefix = '/test/';

/** One request or event in six is odd. */
const oddIn = 6;
const oddFates: readonly Fate[] = ['lost', 'no answer', 'late', 'twice', 'again'];

/** The client of a program that heeds no server: it sees neither leader nor members, and compares nothing. */
export const heedless = (client: EtcdClient): EtcdClient => {
  const { leader, members } = new Keys(prefix);
  return {
    ...client,
    range: async (request) => {
      const { keys, ...answer } = await client.range(request);
      const seen = keys.filter(({ key }) => key !== leader && !key.startsWith(members.key));
      return { ...answer, keys: seen };
    },
    transact: (request) => client.transact({ ...request, compare: [] }),
  };
};

/** Etcd as the tests of all shared logs use it: the model. */
export class EtcdBench implements Bench {
  readonly settleMs = 4000;
  readonly keepsLog = false;
  readonly world = new SimulatedWorld(1);
  readonly keys = new Keys(prefix);
  readonly etcd: ModelOfEtcd;
  readonly limits: Partial<EtcdLimits>;
  readonly clients: ModelClient[] = [];
  /** Every transaction that was applied, in order. */
  readonly applied: TxnRequest[] = [];
  readonly reports: unknown[] = [];
  /** Stands between the engine of a process and its connection. */
  between: (client: ModelClient) => EtcdClient = (client) => client;
  /** Memory of the processes that start from now on. */
  seen: Seen | undefined;
  copy: LocalCopy | undefined;
  /** Reasons for which a process waits for the log; `undefined`: a start without the log ends. */
  waits: Error[] | undefined;
  signal: AbortSignal | undefined;
  readonly #delays = new Map<ModelClient, number>();
  #wild: (() => Fate) | undefined;

  constructor(limits: Partial<EtcdLimits> = {}) {
    this.limits = { ...testLimits, ...limits };
    const { clock, timers, random } = this.world;
    const { callMs } = testLimits;
    const applied = (request: TxnRequest) => this.applied.push(request);
    this.etcd = new ModelOfEtcd({ clock, timers, random, callMs, applied });
    this.etcd.faults.deliveries = (_, client) => [this.#delays.get(client) ?? 1];
  }

  open(): BenchEngine & { readonly client: ModelClient; readonly engine: EtcdEngine } {
    const { clock, random, ids } = this.world;
    const client = this.etcd.connect();
    this.clients.push(client);
    const { timers, end } = endable(this.world.timers);
    const engine = new EtcdEngine({
      client: this.between(client),
      clock,
      timers,
      random,
      ids,
      prefix,
      where: 'the model',
      limits: this.limits,
      seen: this.seen,
      copy: this.copy,
      signal: this.signal,
      waiting: this.waits && ((reason) => this.waits!.push(reason)),
      report: (fault) => this.reports.push(fault),
    });
    const crash = () => {
      client.crash();
      end();
    };
    const hearAfter = (delayMs: number) => void this.#delays.set(client, delayMs);
    return { engine, timers, crash, hearAfter, client };
  }

  get appended() {
    return this.applied.flatMap(({ success }) => {
      const puts = success.filter((operation) => operation.kind === 'put');
      const entry = puts.find(({ key }) => key.startsWith(`${prefix}log/`));
      const head = puts.find(({ key }) => key === this.keys.head);
      if (entry === undefined || head === undefined) return [];
      const { first, last } = decodeEntry(entry.value, entry.key);
      return [{ first, last, epoch: decodeHead(head.value, head.key).epoch }];
    });
  }

  get head(): LogHead {
    const [found] = this.etcd.store.range({ key: this.keys.head }).keys;
    return decodeHead(found!.value, found!.key);
  }

  advance = (durationMs: number): Promise<void> => this.world.advance(durationMs);

  until(condition: () => boolean): Promise<void> {
    return simulatedUntil(this, condition);
  }

  during<T>(promise: Promise<T>): Promise<T> {
    return simulatedDuring(this, promise);
  }

  depose(): void {
    this.etcd.depose(this.keys.leader);
  }

  usurp(): void {
    const head = { ...this.head, epoch: this.head.epoch + 1, server: 'ghost', nonce: 'ghost' };
    const put = { kind: 'put' as const, key: this.keys.head, value: encodeHead(head) };
    this.etcd.store.transact({ compare: [], success: [put] });
  }

  slow(delayMs: number): void {
    this.etcd.faults.delayMs = () => delayMs / 2;
  }

  /** From now on one request and one event in a few meets a fate of its own, by the seed. */
  misbehave(seed: number): this {
    const random = seededRandom(seed);
    const { faults } = this.etcd;
    const pick = <T>(items: readonly T[]): T => items[random.below(items.length)]!;
    this.#wild = () => (random.below(oddIn) > 0 ? 'arrives' : pick(oddFates));
    faults.fate = this.#wild;
    const lateMs = random.below(3 * testLimits.callMs);
    faults.lateMs = () => lateMs;
    faults.deliveries = (_, client) => {
      const delayMs = this.#delays.get(client) ?? 1;
      return random.below(oddIn) > 0 ? [delayMs] : pick([[], [delayMs, 5, 300], [500], [0]]);
    };
    return this;
  }

  calm(): void {
    this.#wild = undefined;
    this.etcd.faults.fate = undefined;
  }

  answers(how: 'works' | 'fails' | 'no answer'): void {
    const fate = how === 'fails' ? 'lost' : 'no answer';
    this.etcd.faults.fate = how === 'works' ? this.#wild : () => fate;
  }
}

/** Timers of a process that ends. */
function endable(timers: Timers): { timers: Timers; end: () => void } {
  let isOver = false;
  const unlessOver = (run: () => void) => () => {
    if (!isOver) run();
  };
  return {
    timers: {
      after: (delayMs, run) => timers.after(delayMs, unlessOver(run)),
      soon: (run) => timers.soon(unlessOver(run)),
      unhurried: (run) => timers.unhurried(unlessOver(run)),
    },
    end: () => {
      isOver = true;
    },
  };
}

/** Servers over the model. */
export async function etcdServers(count: number, given: EtcdServersOptions = {}) {
  const bench = new EtcdBench(given.etcd);
  if (given.between !== undefined) bench.between = given.between;
  const servers = await new BenchServers(bench, given.state).open(count);
  await bench.advance(bench.settleMs);
  return servers;
}

export interface EtcdServersOptions {
  readonly etcd?: Partial<EtcdLimits>;
  readonly state?: object;
  readonly between?: (client: ModelClient) => EtcdClient;
}

export type EtcdServers = Awaited<ReturnType<typeof etcdServers>>;

/** The connection of a server. */
export const connectionOf = ({ all, bench }: EtcdServers, server: BenchServer): ModelClient =>
  bench.clients[all.indexOf(server)]!;

/** A client with some of its calls changed. */
export const changed = (client: ModelClient, calls: Partial<EtcdClient>): EtcdClient => ({
  range: (request) => client.range(request),
  transact: (request) => client.transact(request),
  compact: (revision) => client.compact(revision),
  grantLease: (ttlSeconds) => client.grantLease(ttlSeconds),
  keepAlive: (lease) => client.keepAlive(lease),
  revokeLease: (lease) => client.revokeLease(lease),
  watch: (span, listener) => client.watch(span, listener),
  status: () => client.status(),
  isOutOfSpace: () => client.isOutOfSpace(),
  close: () => client.close(),
  ...calls,
});

/** The keys that a request puts or deletes; of spans the first one. */
export const keysOf = ({ success }: TxnRequest): string[] =>
  success.flatMap((operation) => (operation.kind === 'range' ? [] : [operation.key]));

/** Whether the request appends a batch. */
export const isAppend = (request: TxnRequest): boolean =>
  keysOf(request).some((key) => key.startsWith(`${prefix}log/`)) &&
  request.success.every(({ kind }) => kind === 'put');

/** Whether the request puts the head and nothing else. */
export const isHeadAlone = (request: TxnRequest): boolean =>
  keysOf(request).join() === `${prefix}head`;

/** Whether the request begins a term: it takes the leader key with the head. */
export const isBeginning = (request: TxnRequest): boolean =>
  keysOf(request).join() === `${prefix}head,${prefix}leader`;

/** How a write ended. */
export const outcomeOf = (written: Promise<unknown>): Promise<string> =>
  written.then(
    () => 'done',
    (error: { readonly code: string }) => error.code,
  );

/** A note in memory. */
export class KeptNote implements Seen {
  kept: SeenLog | undefined;

  async read() {
    return this.kept;
  }

  async keep(seen: SeenLog): Promise<void> {
    this.kept = seen;
  }
}

/** A copy in memory. */
export class KeptCopy implements LocalCopy {
  kept: { readonly record: CopyRecord; readonly parts: readonly Bytes[] } | undefined;

  async read() {
    const { kept } = this;
    return kept && { record: kept.record, parts: all(kept.parts) };
  }

  async keep(record: CopyRecord, parts: AsyncIterable<Bytes>): Promise<void> {
    const found: Bytes[] = [];
    for await (const part of parts) found.push(part);
    this.kept = { record, parts: found };
  }
}

async function* all<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
