/** One cluster of a simulation: its servers, machines, users, faults and checkers. */
import type { Hash } from 'node:crypto';
import type { Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import { limits } from '../src/model/limits.ts';
import { SimulatedDisk } from './disk.ts';
import { type Fault, Faults } from './faults.ts';
import { hardware } from './hardware.ts';
import { guarantees, Judges } from './judges.ts';
import { EtcdLog } from './logs/etcd-log.ts';
import type { LogName } from './logs/log-names.ts';
import { Machine } from './machine.ts';
import { Network } from './network.ts';
import { Recoveries } from './recoveries.ts';
import type { RegisterUsers } from './register-users.ts';
import { simulatedRegisters } from './registers.ts';
import { RestoringUsers } from './restoring-users.ts';
import { type Outside, type RunningServer, SimulatedServer } from './server.ts';
import { faultsOfServer } from './server-faults.ts';
import { type GroupEvents, SimulatedServers } from './servers.ts';
import { faultsOfServers, workOfOperators } from './servers-faults.ts';
import type { Trace } from './trace.ts';
import { Workload } from './workload.ts';

export interface ClusterOptions {
  readonly world: SimulatedWorld;
  readonly name: string;
  readonly nodes: number;
  /** Number of servers; several servers share a log. */
  readonly servers: number;
  readonly log: LogName;
  readonly trace: Trace;
  /** Takes every byte that becomes durable. */
  readonly hash: Hash;
  /** A random stream of the seed, by its number. */
  readonly randomOf: (share: number) => Random;
  /** Leaves out the users in a hurry. */
  readonly isCalm: boolean;
  /** Adds users who restore snapshots. */
  readonly hasRestores: boolean;
  /** Whether etcd comes back older now and then (`recoveries.ts`). */
  readonly hasRecoveries: boolean;
  /** Whether servers have deciders. */
  readonly hasDeciders: boolean;
  /** The connection to other clusters; absent in a life with one cluster. */
  readonly outside?: Outside;
}

export class Cluster {
  readonly name: string;
  readonly server: SimulatedServer | SimulatedServers;
  readonly network: Network;
  readonly machines: readonly Machine[];
  readonly workload: Workload;
  /** Absent with a single server. */
  readonly registers: RegisterUsers | undefined;
  /** Absent in a life without restores. */
  readonly restoring: RestoringUsers | undefined;
  /** Absent in a life without recoveries. */
  readonly recoveries: Recoveries | undefined;
  readonly faults: Faults;
  readonly judges: Judges;

  constructor(options: ClusterOptions) {
    const { world, name, nodes, trace, randomOf, isCalm } = options;
    // A recovery is a restore.
    const hasRestores = options.hasRestores || options.hasRecoveries;
    this.name = name;
    const events = eventsOf(() => this.judges);
    const ofFaults = randomOf(4);
    const { server, ofServers, beside, reached } = servedBy(options, events, ofFaults);
    this.server = server;
    this.network = new Network(world, randomOf(1), reached);
    const { network } = this;
    const machineRandom = randomOf(2);
    const unexpected = (sentence: string) => this.judges.report(guarantees.answers, sentence);
    this.machines = Array.from({ length: nodes }, (_, number): Machine => {
      const machine = new Machine({
        world,
        network,
        random: machineRandom,
        server: reached,
        unexpected,
        hardware: hardware(number, world.ids),
        hasRestores,
        moved: (run) => this.judges.moved(machine, run),
        abandoned: (run) => this.judges.abandoned(machine, run),
      });
      return machine;
    });
    const { machines } = this;
    this.judges = new Judges({
      world,
      server,
      network,
      machines,
      trace,
      isShared: options.servers > 1,
      knowsContact: options.servers > 1 && options.log === 'etcd',
      ...(hasRestores && { restored: () => this.registers?.restored() }),
    });
    this.workload = new Workload({
      world,
      network,
      random: randomOf(3),
      unexpected,
      nodeIds: machines.map((machine) => machine.hardware.id),
      ...(!isCalm && { hurry: randomOf(5) }),
    });
    const fault = (sentence: string) => this.judges.report(guarantees.registers, sentence);
    this.registers =
      options.servers === 1
        ? undefined
        : simulatedRegisters({ world, network, random: randomOf(7), fault });
    this.restoring = options.hasRestores
      ? new RestoringUsers({ world, network, random: randomOf(8) })
      : undefined;
    this.recoveries = recoveriesOf(options, server, events);
    this.faults = new Faults({
      world,
      network,
      ofServers,
      beside,
      machines,
      random: ofFaults,
      note: (sentence) => trace.tell(sentence),
    });
  }

  /** Runs the checks at rest. */
  rested(): void {
    const { server, judges } = this;
    judges.rested(server.running?.state);
    if (server instanceof SimulatedServer) return;
    for (const [number, { running }] of server.all.entries()) {
      judges.compareServer(number, running?.state);
    }
  }

  startUsers(): void {
    this.workload.start();
    this.registers?.start();
    this.restoring?.start();
    this.recoveries?.start();
  }

  endUsers(): void {
    void this.workload.end();
    this.registers?.end();
    this.restoring?.end();
    this.recoveries?.end();
  }

  startAgents(): void {
    for (const machine of this.machines) machine.startAgent();
  }
}

const eventsOf = (judges: () => Judges): GroupEvents => {
  const report = (guarantee: string) => (sentence: string) => judges().report(guarantee, sentence);
  return {
    opened: (state) => judges().opened(state),
    failed: (sentence, fields) => judges().failed(sentence, fields),
    joined: (server, index) => judges().joined(server, index),
    heard: (server, changes, index) => judges().heard(server, changes, index),
    termBegan: () => judges().termBegan(),
    torn: report(guarantees.whole),
    wentOn: report(guarantees.diverged),
    unreadable: report(guarantees.versions),
    trusted: report(guarantees.key),
    overstated: report(guarantees.health),
    wentBack: report(guarantees.time),
  };
};

function recoveriesOf(
  { world, hasRecoveries, randomOf, trace }: ClusterOptions,
  servers: SimulatedServer | SimulatedServers,
  events: GroupEvents,
): Recoveries | undefined {
  if (!hasRecoveries || !(servers instanceof SimulatedServers)) return undefined;
  const { log } = servers;
  if (!(log instanceof EtcdLog)) return undefined;
  const note = (sentence: string) => trace.tell(sentence);
  return new Recoveries({ world, random: randomOf(11), servers, log, note, broken: events.wentOn });
}

interface Served {
  readonly server: SimulatedServer | SimulatedServers;
  readonly ofServers: readonly Fault[];
  readonly beside: readonly (readonly Fault[])[];
  /** The server that receives a call from the machine. */
  readonly reached: (machine: string) => RunningServer | undefined;
}

/**
 * The most allocations in a part of a plan. Three of four lives have small parts, so that plans have many of them, between
 * which others write. Every fourth life has parts as large as the product.
 */
const planRowsOf = (random: Random): number =>
  random.below(4) === 0 ? limits.scheduler.planRowsMax : 4;

const servedBy = (options: ClusterOptions, events: GroupEvents, ofFaults: Random): Served =>
  options.servers === 1
    ? oneServer(options, events, ofFaults)
    : severalServers(options, events, ofFaults);

const faultsOfDeciders = (
  servers: readonly Pick<SimulatedServer, 'deciders'>[],
): readonly Fault[] => servers.flatMap(({ deciders }) => deciders?.faults() ?? []);

function oneServer(
  { world, hash, outside, randomOf, hasDeciders }: ClusterOptions,
  events: GroupEvents,
  ofFaults: Random,
): Served {
  const disk = new SimulatedDisk(hash);
  const planRowsMax = planRowsOf(randomOf(9));
  const deciders = hasDeciders ? randomOf(10) : undefined;
  const server = new SimulatedServer({ world, disk, events, outside, planRowsMax, deciders });
  const ofServers = [...faultsOfServer(server, ofFaults), ...faultsOfDeciders([server])];
  return { server, ofServers, beside: [], reached: () => server.running };
}

function severalServers(options: ClusterOptions, events: GroupEvents, ofFaults: Random): Served {
  const { world, hash, outside, randomOf, log, servers: count, hasDeciders } = options;
  const { hasRecoveries, hasRestores } = options;
  // Parts of the product that read snapshots and batches apart from the state know only the tables of their own program.
  const hasUpgrades = log === 'etcd' && !(hasRecoveries || hasRestores || hasDeciders);
  const server = new SimulatedServers({
    world,
    count,
    log,
    hash,
    events,
    outside,
    hasRecoveries,
    hasUpgrades,
    random: randomOf(6),
    planRowsMax: planRowsOf(randomOf(9)),
    ...(hasDeciders && { deciders: randomOf(10) }),
  });
  const ofServers = [...faultsOfServers(server, ofFaults), ...faultsOfDeciders(server.all)];
  const ofSleep = server.log.faultsOfSleep(ofFaults);
  const beside = [ofSleep, workOfOperators(server, ofFaults)].filter(({ length }) => length > 0);
  return { server, ofServers, beside, reached: (machine) => server.reachedFrom(machine) };
}
