/**
 * Several servers over one log: one leads, the others follow. Any of them takes calls.
 *
 * The checkers learn of commits from the log itself: a witness applies each batch at the moment in which
 * it becomes durable. The commits of each server are compared with the witness.
 */
import type { Hash } from 'node:crypto';
import type { Clock, Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import { LocalServers } from '../src/server/servers-local.ts';
import type { Batch, Engine, EngineEvent, Leadership, Loaded } from '../src/state/engine/engine.ts';
import type { CrashFate } from '../src/state/engine/memory.ts';
import { openState } from '../src/state/state.ts';
import type { Change } from '../src/state/types.ts';
import { EtcdLog } from './logs/etcd-log.ts';
import type { GroupLog, GroupLogOptions } from './logs/group-log.ts';
import type { LogName } from './logs/log-names.ts';
import { MemoryLog } from './logs/memory-log.ts';
import { loopback } from './network.ts';
import { MachineClock, type Process } from './process.ts';
import {
  type Outside,
  type RunningServer,
  type ServerEvents,
  SimulatedServer,
  type Storage,
} from './server.ts';
import { Stranger } from './stranger.ts';
import { type Build, newerBuild, olderBuild, SimulatedUpgrades, usualBuild } from './upgrades.ts';

/** Longest delay of a message between two servers. */
const latencyMaxMs = 3;
/** The most by which the clocks of two servers differ at first. */
const clockDifferenceMs = 8000;
/** One call in this number goes to another server than the caller's last call. */
const switchOneIn = 8;

export interface GroupEvents extends ServerEvents {
  /** The server with this number has loaded the log up to the index. */
  readonly joined: (server: number, index: number) => void;
  /** The server with this number applied a commit. */
  readonly heard: (server: number, changes: readonly Change[], index: number) => void;
  /** A new term has begun. */
  readonly termBegan: () => void;
  /** The log does not hold a whole state. */
  readonly torn: (sentence: string) => void;
  /** A server goes on with an older log. */
  readonly wentOn: (sentence: string) => void;
  /** An upgrade breaks a rule. */
  readonly unreadable: (sentence: string) => void;
  /** A server without the root key was trusted. */
  readonly trusted: (sentence: string) => void;
  /** The health of a server names a size of etcd that etcd has not told. */
  readonly overstated: (sentence: string) => void;
  /** A batch is of an earlier time than the batch before. */
  readonly wentBack: (sentence: string) => void;
}

export interface SimulatedServersOptions {
  readonly world: SimulatedWorld;
  readonly count: number;
  readonly log: LogName;
  /** Takes every byte that becomes durable. */
  readonly hash: Hash;
  readonly random: Random;
  readonly events: GroupEvents;
  readonly planRowsMax: number;
  /** Chance of the deciders of all servers; absent in a life without deciders. */
  readonly deciders?: Random | undefined;
  readonly outside?: Outside | undefined;
  /** Whether etcd comes back older now and then. */
  readonly hasRecoveries: boolean;
  /** Whether the servers begin with an older program and are upgraded. */
  readonly hasUpgrades: boolean;
}

export class SimulatedServers {
  readonly all: readonly SimulatedServer<Storage>[];
  readonly log: GroupLog;
  /** Absent where no server without the root key comes. */
  readonly stranger: Stranger | undefined;
  /** Absent where all servers have the same program. */
  readonly upgrades: SimulatedUpgrades | undefined;
  /** From which the clocks of the servers differ. */
  readonly usualClock: MachineClock;
  /** Numbers of the servers that receive no message of another server. */
  readonly cutOff = new Set<number>();
  readonly #options: SimulatedServersOptions;
  readonly #witness = new Witness();
  /** Of the newest batch. */
  #timeMs = 0;
  /** The server of each caller's last call. */
  readonly #chosen = new Map<string, number>();

  constructor(options: SimulatedServersOptions) {
    const { world, count, hash, random, events, outside, planRowsMax, deciders } = options;
    this.#options = options;
    this.usualClock = new MachineClock(world.clock);
    this.log = openLog(options.log, {
      world,
      random,
      appended: (batch, isRecovery = false) => {
        hash.update(batch.bytes);
        this.#witness.tell(batch);
        // The batch of a recovery has no time, and the time of lost batches is lost.
        if (isRecovery) this.#timeMs = 0;
        else this.#noteTime(batch);
      },
      fault: events.torn,
      overstated: events.overstated,
      keepsMemory: options.hasRecoveries,
    });
    const servers = new LocalServers(world);
    const carry = (number: number) => (arrive: () => void) => {
      world.timers.after(random.fraction() * latencyMaxMs, () => {
        if (!this.cutOff.has(number)) arrive();
      });
    };
    this.all = Array.from({ length: count }, (_, number) => {
      const own: ServerEvents = {
        opened: (state) => {
          events.joined(number, state.read().index);
          state.onCommit((changes, index) => events.heard(number, changes, index));
          state.onReplaced((index) => events.joined(number, index));
          state.onLeadership((term) => term && events.termBegan());
        },
        failed: (sentence, fields) => this.#noteFailure(number, sentence, fields),
      };
      const clock = new MachineClock(this.usualClock);
      clock.jump(random.below(clockDifferenceMs) - clockDifferenceMs / 2);
      return new SimulatedServer({
        world,
        events: own,
        outside,
        planRowsMax,
        deciders,
        clock,
        disk: this.log.addServer(),
        build: buildOf(options),
        others: { id: idOf(number), servers, carry: carry(number) },
      });
    });
    const leader = () => this.running;
    this.upgrades = options.hasUpgrades
      ? new SimulatedUpgrades({ world, all: this.all, leader, broken: events.unreadable })
      : undefined;
    const disk = this.log.addStranger?.();
    this.stranger =
      disk &&
      new Stranger({
        ...options,
        disk,
        build: newerBuild,
        others: { id: 'stranger', servers, carry: carry(count) },
        failed: (sentence, fields) => this.#noteFailure(count, sentence, fields),
        trusted: events.trusted,
      });
  }

  /** Ids of the servers that run. */
  get runningIds(): readonly string[] {
    return this.all.flatMap(({ running }, number) => (running === undefined ? [] : [idOf(number)]));
  }

  get leader(): SimulatedServer<Storage> | undefined {
    return this.all.find(({ running }) => running?.state.leading?.epoch === this.log.epoch);
  }

  get running(): RunningServer | undefined {
    return this.leader?.running;
  }

  /** The time by which the leader decides. */
  get clock(): Pick<Clock, 'nowMs'> {
    return this.running?.state.clock ?? this.usualClock;
  }

  get process(): Process | undefined {
    return this.leader?.process;
  }

  /** The server that takes a call from the machine. Callers on the leader's machine always ask the leader. */
  reachedFrom(machine: string): RunningServer | undefined {
    if (machine === loopback) return this.running;
    const { random } = this.#options;
    const known = this.#chosen.get(machine);
    const isKept = known !== undefined && this.all[known]?.running !== undefined;
    const number = isKept && random.below(switchOneIn) > 0 ? known : random.below(this.all.length);
    this.#chosen.set(machine, number);
    return this.all[number]!.running;
  }

  /** A server that an upgrade has left behind starts again with the newer program. */
  #noteFailure(number: number, sentence: string, fields: object): void {
    const { events, world } = this.#options;
    if (this.log.explains?.((fields as { readonly error?: unknown }).error)) return;
    if (this.upgrades?.keptOut(number, sentence, fields) !== true) {
      events.failed(sentence, fields);
      return;
    }
    world.timers.soon(() => {
      this.all[number]!.crash('lost');
      this.all[number]!.startSoon();
    });
  }

  #noteTime({ firstIndex, timeMs = 0 }: Batch): void {
    const beforeMs = this.#timeMs;
    this.#timeMs = timeMs;
    if (timeMs >= beforeMs) return;
    this.#options.events.wentBack(
      `the batch from index ${firstIndex} is ${beforeMs - timeMs} ms earlier than the batch before`,
    );
  }

  start(): void {
    const { world, events } = this.#options;
    const opened = openState({
      tables: newerBuild.tables,
      engine: this.#witness,
      timers: world.timers,
    });
    void opened.then((state) => {
      events.opened(state);
      state.onCommit((changes) => this.upgrades?.committed(changes));
      for (const server of this.all) server.start();
    });
  }

  crash(fate: CrashFate): void {
    for (const server of this.all) server.crash(fate);
  }
}

const buildOf = ({ log, hasUpgrades }: SimulatedServersOptions): Build | undefined =>
  log === 'memory' ? undefined : hasUpgrades ? olderBuild : usualBuild;

const idOf = (number: number): string => `server-${number}`;

const openLog = (name: LogName, options: GroupLogOptions): GroupLog =>
  name === 'memory' ? new MemoryLog(options) : new EtcdLog(options);

/** Follows the log from its beginning without delay. */
class Witness implements Engine {
  readonly leadership: Leadership = { leader: false, epoch: 0 };
  #listen: (event: EngineEvent) => void = () => {};

  tell(batch: Batch): void {
    this.#listen({ kind: 'batch', batch });
  }

  async *load(): AsyncGenerator<Loaded> {}

  append(): Promise<void> {
    return Promise.reject(new Error('a witness writes nothing'));
  }

  saveSnapshot(): Promise<void> {
    return Promise.reject(new Error('a witness stores nothing'));
  }

  subscribe(listen: (event: EngineEvent) => void): () => void {
    this.#listen = listen;
    return () => {};
  }

  async close(): Promise<void> {}
}
