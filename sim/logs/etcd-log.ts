/** The log of the product over the model of etcd, whose requests and events may go astray. */
import type { Random, Timers, World } from '../../src/base/ports.ts';
import type { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import type { Bytes } from '../../src/state/codec.ts';
import type { Batch } from '../../src/state/engine/engine.ts';
import type { TxnRequest, WatchEvent } from '../../src/state/engine/etcd/client.ts';
import { EtcdEngine } from '../../src/state/engine/etcd/etcd.ts';
import { decodeHead, type LogHead } from '../../src/state/engine/etcd/head.ts';
import { Keys } from '../../src/state/engine/etcd/keys.ts';
import { etcdLimits } from '../../src/state/engine/etcd/limits.ts';
import { batchOf, decodeEntry, joined } from '../../src/state/engine/etcd/log-entry.ts';
import {
  type Deliveries,
  type Leaving,
  type ModelClient,
  ModelOfEtcd,
} from '../../src/state/engine/etcd/model.ts';
import type { StoredCopy } from '../../src/state/engine/etcd/model-store.ts';
import { EtcdRecovery } from '../../src/state/engine/etcd/recovery.ts';
import { Diverged } from '../../src/state/errors.ts';
import { openState } from '../../src/state/state.ts';
import type { AnyDefinition } from '../../src/state/table.ts';
import { storedForm } from '../../src/state/tables/cluster.ts';
import type { State } from '../../src/state/types.ts';
import { stateLimits } from '../disk.ts';
import type { Fault } from '../faults.ts';
import type { Process } from '../process.ts';
import type { Storage } from '../server.ts';
import { faultsOfEtcd, faultsOfMaintenance } from './etcd-faults.ts';
import { type Sleep, sleepsOfLeaders } from './etcd-sleeps.ts';
import type { GroupLog, GroupLogOptions } from './group-log.ts';
import { KeptMemory } from './kept-memory.ts';
import { WholeState } from './whole-state.ts';

const prefix = '/simulated/';
/** Longest way of a message to etcd or from it, without faults. */
const wayMaxMs = 2;
/**
 * Small, so that dozens of batches go in parts, and a leader that sleeps through two terms misses several snapshots
 * and compactions.
 */
const limits = { valueBytes: 2 * 1024, historyMs: 60_000, statusMs: 10_000 };
/** Within this time a server has asked for etcd's size, even if it has no answer. */
const healthMs = 2 * limits.statusMs + 4 * etcdLimits.callMs;
const logBytes = 64 * 1024;
const logPerSnapshot = 0.25;

export class EtcdLog implements GroupLog {
  readonly etcd: ModelOfEtcd;
  readonly storages: EtcdLogStorage[] = [];
  /** The way of events to a server while events go astray. */
  deliveries: ((delayMs: number) => Deliveries) | undefined;
  /** Leaders that sleep or are about to fall asleep. */
  readonly sleeps = new Set<Sleep>();
  readonly keys = new Keys(prefix);
  readonly #options: GroupLogOptions;
  readonly #whole: WholeState;
  #epoch = 0;
  /** Of the newest batch, whether or not it was lost since. */
  #index = 0;
  /** Id of the cluster whose log was lost, until it is recovered. */
  #lost: string | undefined;

  constructor(options: GroupLogOptions) {
    const { clock, timers } = options.world;
    const { random } = options;
    this.#options = options;
    const { callMs } = etcdLimits;
    const applied = (request: TxnRequest) => this.#onApplied(request);
    this.etcd = new ModelOfEtcd({ clock, timers, random, callMs, applied });
    this.#whole = new WholeState(this.etcd.store, this.keys, options.fault);
    this.setDelay(wayMaxMs);
    this.etcd.faults.hold = (request, client) => this.#holdRequest(request, client);
    this.etcd.faults.lag = (client) => this.#storageOf(client)?.lag ?? 0;
    this.etcd.faults.deliveries = (_event: WatchEvent, client: ModelClient) => {
      const storage = this.#storageOf(client);
      if (storage?.isBehind) return [];
      const delayMs = random.fraction() * wayMaxMs + (storage?.lateMs ?? 0);
      return this.deliveries?.(delayMs) ?? [delayMs];
    };
  }

  get timers(): Timers {
    return this.#options.world.timers;
  }

  get nowMs(): number {
    return this.#options.world.clock.monotonicMs();
  }

  get epoch(): number {
    return this.#epoch;
  }

  addServer(): Storage {
    const memory = this.#options.keepsMemory ? new KeptMemory() : undefined;
    const storage = new EtcdLogStorage(this.etcd, this.#options, memory);
    this.storages.push(storage);
    return storage;
  }

  /** The end of the log that etcd has. */
  get head(): LogHead | undefined {
    const [found] = this.etcd.store.range({ key: this.keys.head }).keys;
    return found && decodeHead(found.value, found.key);
  }

  /** Etcd comes back with older data. Until a recovery the log is lost: its batches are none of this cluster. */
  goBack(older: StoredCopy, id: string): void {
    this.#lost = this.head?.cluster;
    this.#whole.goBack();
    this.etcd.restore(older, id);
  }

  /** Whether the error of a server is explained by an etcd that came back older. */
  explains(error: unknown): boolean {
    return this.#lost !== undefined && error instanceof Diverged;
  }

  /** The work of an operator on the machine of a server that does not run. */
  recoveryBy({ memory }: EtcdLogStorage): EtcdRecovery {
    const { world, random } = this.#options;
    const client = this.etcd.connect();
    const given = { ...world, ...memory, random, client, prefix, limits };
    return new EtcdRecovery({ ...given, where: 'the model of etcd', report: () => {} });
  }

  addStranger(): Storage {
    return new EtcdLogStorage(this.etcd, this.#options);
  }

  depose(): void {
    this.etcd.depose(this.keys.leader);
  }

  /** Sets the longest way of a request to etcd, and of its answer; `undefined`: as without faults. */
  setDelay(mostMs = wayMaxMs): void {
    const { random } = this.#options;
    this.etcd.faults.delayMs = () => random.fraction() * mostMs;
  }

  /** Etcd has not told its size for this time, so no server that was awake since then tells one. */
  judgeHealth(silentMs: number): void {
    for (const [number, storage] of this.storages.entries()) {
      if (silentMs < healthMs || !storage.runsFor(silentMs) || storage.tellsStore !== true)
        continue;
      this.#options.overstated(
        `server ${number} tells the size of etcd, which has not told it for ${silentMs} ms`,
      );
    }
  }

  faults(random: Random): readonly Fault[] {
    return faultsOfEtcd(this, random);
  }

  faultsOfOperators(): readonly Fault[] {
    return faultsOfMaintenance(this);
  }

  faultsOfSleep(random: Random): readonly Fault[] {
    return sleepsOfLeaders(this, random);
  }

  #storageOf(client: ModelClient): EtcdLogStorage | undefined {
    return this.storages.find((one) => one.client === client);
  }

  #holdRequest(request: Leaving, client: ModelClient): Promise<void> | undefined {
    if (this.sleeps.size === 0) return undefined;
    const program = this.#storageOf(client)?.program;
    if (program === undefined || [...this.sleeps].some(({ isAsleep }) => isAsleep))
      return undefined;
    for (const sleep of this.sleeps) {
      const held = sleep.hold(request, program);
      if (held !== undefined) return held;
    }
    return undefined;
  }

  #onApplied({ success }: TxnRequest): void {
    this.#whole.changed(success);
    const puts = success.filter((operation) => operation.kind === 'put');
    const put = puts.find(({ key }) => key === this.keys.head);
    const head = put && decodeHead(put.value, put.key);
    const isRecovery =
      this.#lost !== undefined && head !== undefined && head.cluster !== this.#lost;
    if (isRecovery) this.#lost = undefined;
    if (this.#lost !== undefined) return;
    for (const { key, value } of puts) {
      if (!key.startsWith(this.keys.everyEntry.key)) continue;
      const batch = this.#batchIn(key, value);
      // It follows the older log, and replaces the rows of the lost one as well.
      const told = isRecovery
        ? { ...batch, firstIndex: this.#index + 1, previous: undefined }
        : batch;
      this.#index = batch.lastIndex;
      this.#options.appended(told, isRecovery);
    }
    if (head !== undefined) this.#moveTo(head.epoch);
  }

  #moveTo(epoch: number): void {
    if (epoch === this.#epoch) return;
    this.#epoch = epoch;
    for (const sleep of this.sleeps) sleep.termBegan();
  }

  #batchIn(key: string, value: Bytes): Batch {
    const entry = decodeEntry(value, key);
    if (entry.parts === 0) return batchOf(entry, entry.bytes, key);
    const { keys } = this.etcd.store.range(this.keys.parts(entry.first, entry.batch));
    return batchOf(entry, joined(keys.map((part) => part.value)), key);
  }
}

/** The connection of a server to etcd. */
export class EtcdLogStorage implements Storage {
  readonly memory: KeptMemory | undefined;
  readonly #etcd: ModelOfEtcd;
  readonly #world: SimulatedWorld;
  readonly #random: Random;
  client: ModelClient | undefined;
  program: Process | undefined;
  contactMs: (() => number | undefined) | undefined;
  ageMs: (() => number | undefined) | undefined;
  #engine: EtcdEngine | undefined;
  #openedMs = 0;
  /** Delay of every event. */
  lateMs = 0;
  #isCutOff = false;
  /** Since when it is not cut off. */
  #joinedMs = 0;
  /** The newest revision of its member of etcd while that hears nothing of the others. */
  #stoppedAt: number | undefined;

  /** @param memory the files on the machine of the server; `undefined`: a new machine without any */
  constructor(etcd: ModelOfEtcd, { world, random }: GroupLogOptions, memory?: KeptMemory) {
    this.memory = memory;
    this.#etcd = etcd;
    this.#world = world;
    this.#random = random;
  }

  open(
    { clock, timers }: World,
    report: (error: unknown) => void,
    program: Process,
    tables: readonly AnyDefinition[],
  ): Promise<State> {
    this.program = program;
    const client = this.#etcd.connect((run) => void timers.soon(run));
    client.isCutOff = this.#isCutOff;
    this.client = client;
    const engine = new EtcdEngine({
      client,
      clock,
      timers,
      random: this.#random,
      ids: this.#world.ids,
      ...this.memory,
      prefix,
      where: 'the model of etcd',
      limits,
      isHeldBack: true,
      report,
    });
    this.#engine = engine;
    this.#openedMs = this.#world.clock.monotonicMs();
    this.contactMs = () => engine.health.contactMs;
    this.ageMs = () => engine.health.ageMs;
    const limitsOfState = { ...stateLimits, logBytes, logPerSnapshot };
    const options = { tables, form: storedForm, engine, timers, clock, limits: limitsOfState };
    return openState({ ...options, report });
  }

  settled(): void {
    void this.#engine?.settled();
  }

  crash(): void {
    this.client?.crash();
    this.client = undefined;
    this.program = undefined;
    this.#engine = undefined;
  }

  /** Whether its program has been awake for this time. */
  runsFor(durationMs: number): boolean {
    const aliveMs = this.#world.clock.monotonicMs() - this.#openedMs;
    return Math.min(aliveMs, this.program?.awakeMs ?? 0) >= durationMs;
  }

  get isCutOff(): boolean {
    return this.#isCutOff;
  }

  /** How long it has been able to reach etcd. */
  get reachesForMs(): number {
    const nowMs = this.#world.clock.monotonicMs();
    const sinceMs = this.#isCutOff ? nowMs : Math.max(this.#openedMs, this.#joinedMs);
    return Math.min(nowMs - sinceMs, this.program?.awakeMs ?? 0);
  }

  /** Whether its health names the size of etcd. */
  get tellsStore(): boolean {
    return this.#engine?.health.store !== undefined;
  }

  get isBehind(): boolean {
    return this.#stoppedAt !== undefined;
  }

  /** How many revisions its member of etcd is behind. */
  get lag(): number {
    const { revision } = this.#etcd.store;
    return revision - (this.#stoppedAt ?? revision);
  }

  /** From now on its member of etcd has no events, and old data for reads that are not linearizable. */
  stopMember(): void {
    this.#stoppedAt = this.#etcd.store.revision;
  }

  resumeMember(): void {
    this.#stoppedAt = undefined;
    this.client?.breakWatches();
  }

  /** Cuts the server off from etcd, or joins it again. */
  setCutOff(isCutOff: boolean): void {
    this.#isCutOff = isCutOff;
    this.#joinedMs = this.#world.clock.monotonicMs();
    if (this.client === undefined) return;
    this.client.isCutOff = isCutOff;
    if (!isCutOff) this.client.breakWatches();
  }
}
