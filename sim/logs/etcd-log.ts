/** The log of the product over the model of etcd, whose requests and events may go astray. */
import type { Random, Timers, World } from '../../src/base/ports.ts';
import type { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import type { Bytes } from '../../src/state/codec.ts';
import type { Batch } from '../../src/state/engine/engine.ts';
import type { TxnRequest, WatchEvent } from '../../src/state/engine/etcd/client.ts';
import { EtcdEngine } from '../../src/state/engine/etcd/etcd.ts';
import { decodeHead } from '../../src/state/engine/etcd/head.ts';
import { Keys } from '../../src/state/engine/etcd/keys.ts';
import { etcdLimits } from '../../src/state/engine/etcd/limits.ts';
import { batchOf, decodeEntry, joined } from '../../src/state/engine/etcd/log-entry.ts';
import {
  type Deliveries,
  type Leaving,
  type ModelClient,
  ModelOfEtcd,
} from '../../src/state/engine/etcd/model.ts';
import { type FormSource, newestVersions } from '../../src/state/form.ts';
import { openState } from '../../src/state/state.ts';
import { storedForm } from '../../src/state/tables/cluster.ts';
import { allTables } from '../../src/state/tables.ts';
import type { State } from '../../src/state/types.ts';
import { stateLimits } from '../disk.ts';
import type { Fault } from '../faults.ts';
import type { Process } from '../process.ts';
import type { Storage } from '../server.ts';
import { faultsOfEtcd } from './etcd-faults.ts';
import { type Sleep, sleepsOfLeaders } from './etcd-sleeps.ts';
import type { GroupLog, GroupLogOptions } from './group-log.ts';
import { WholeState } from './whole-state.ts';

const prefix = '/simulated/';
/** Longest way of a message to etcd or from it, without faults. */
const wayMaxMs = 2;
/**
 * Small, so that dozens of batches go in parts, and a leader that sleeps through two terms misses several snapshots
 * and compactions.
 */
const limits = { valueBytes: 2 * 1024, historyMs: 60_000, statusMs: 10_000 };
const logBytes = 64 * 1024;
const logPerSnapshot = 0.25;
/** Every server has this program, so batches are compressed from the start. */
const form: FormSource = { ...storedForm, of: () => newestVersions(allTables) };

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
    this.etcd.faults.deliveries = (_event: WatchEvent, client: ModelClient) => {
      const storage = this.storages.find((one) => one.client === client);
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
    const storage = new EtcdLogStorage(this.etcd, this.#options);
    this.storages.push(storage);
    return storage;
  }

  depose(): void {
    this.etcd.depose(this.keys.leader);
  }

  /** Sets the longest way of a request to etcd, and of its answer; `undefined`: as without faults. */
  setDelay(mostMs = wayMaxMs): void {
    const { random } = this.#options;
    this.etcd.faults.delayMs = () => random.fraction() * mostMs;
  }

  faults(random: Random): readonly Fault[] {
    return faultsOfEtcd(this, random);
  }

  faultsOfSleep(random: Random): readonly Fault[] {
    return sleepsOfLeaders(this, random);
  }

  #holdRequest(request: Leaving, client: ModelClient): Promise<void> | undefined {
    if (this.sleeps.size === 0) return undefined;
    const program = this.storages.find((one) => one.client === client)?.program;
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
    const logPrefix = `${prefix}log/`;
    for (const operation of success) {
      if (operation.kind !== 'put') continue;
      const { key, value } = operation;
      if (key === this.keys.head) this.#moveTo(decodeHead(value, key).epoch);
      else if (key.startsWith(logPrefix)) this.#options.appended(this.#batchIn(key, value));
    }
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
  readonly #etcd: ModelOfEtcd;
  readonly #world: SimulatedWorld;
  readonly #random: Random;
  client: ModelClient | undefined;
  program: Process | undefined;
  contactMs: (() => number | undefined) | undefined;
  /** Delay of every event. */
  lateMs = 0;
  #isCutOff = false;

  constructor(etcd: ModelOfEtcd, { world, random }: GroupLogOptions) {
    this.#etcd = etcd;
    this.#world = world;
    this.#random = random;
  }

  open(
    { clock, timers }: World,
    report: (error: unknown) => void,
    program: Process,
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
      prefix,
      where: 'the model of etcd',
      limits,
      report,
    });
    this.contactMs = () => engine.health.contactMs;
    const limitsOfState = { ...stateLimits, logBytes, logPerSnapshot };
    const options = { tables: allTables, form, engine, timers, clock, limits: limitsOfState };
    return openState({ ...options, report });
  }

  crash(): void {
    this.client?.crash();
    this.client = undefined;
    this.program = undefined;
  }

  /** Cuts the server off from etcd, or joins it again. */
  setCutOff(isCutOff: boolean): void {
    this.#isCutOff = isCutOff;
    if (this.client === undefined) return;
    this.client.isCutOff = isCutOff;
    if (!isCutOff) this.client.breakWatches();
  }
}
