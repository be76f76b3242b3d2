/** One cluster of a simulation: its server, its machines, the people who use it, and what goes wrong. */
import type { Hash } from 'node:crypto';
import type { Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import { SimulatedDisk } from './disk.ts';
import { type Fault, Faults } from './faults.ts';
import { hardware } from './hardware.ts';
import { Judges } from './judges.ts';
import { Machine } from './machine.ts';
import { Network } from './network.ts';
import { type Outside, type RunningServer, SimulatedServer } from './server.ts';
import { faultsOfServer } from './server-faults.ts';
import { type GroupEvents, SimulatedServers } from './servers.ts';
import { faultsOfServers } from './servers-faults.ts';
import type { Trace } from './trace.ts';
import { Workload } from './workload.ts';

export interface ClusterOptions {
  readonly world: SimulatedWorld;
  readonly name: string;
  readonly nodes: number;
  /** How many there are; several share one log. */
  readonly servers: number;
  readonly trace: Trace;
  /** Of every byte that is written. */
  readonly hash: Hash;
  /** A part of the seed's chance, by its number. */
  readonly randomOf: (share: number) => Random;
  /** Nobody is in a hurry. */
  readonly isCalm: boolean;
  /** Where others reach it, and it them; absent: it is alone. */
  readonly outside?: Outside;
}

export class Cluster {
  readonly name: string;
  /** The one, or all of them. */
  readonly server: SimulatedServer | SimulatedServers;
  readonly network: Network;
  readonly machines: readonly Machine[];
  readonly workload: Workload;
  readonly faults: Faults;
  readonly judges: Judges;

  constructor(options: ClusterOptions) {
    const { world, name, nodes, trace, randomOf, isCalm } = options;
    this.name = name;
    const events: GroupEvents = {
      opened: (state) => this.judges.opened(state),
      failed: (sentence, fields) => this.judges.failed(sentence, fields),
      heard: (server, changes, index) => this.judges.heard(server, changes, index),
      led: () => this.judges.led(),
    };
    const ofFaults = randomOf(4);
    const { server, ofServers, reached } =
      options.servers === 1 ? alone(options, events, ofFaults) : several(options, events, ofFaults);
    this.server = server;
    const network = new Network(world, randomOf(1), reached);
    this.network = network;
    const machineRandom = randomOf(2);
    const unexpected = (sentence: string) => this.judges.found('no answer is a surprise', sentence);
    this.machines = Array.from({ length: nodes }, (_, number): Machine => {
      const machine = new Machine({
        world,
        network,
        random: machineRandom,
        server: reached,
        unexpected,
        hardware: hardware(number, world.ids),
        moved: (run) => this.judges.moved(machine, run),
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
    });
    this.workload = new Workload({
      world,
      network,
      random: randomOf(3),
      unexpected,
      nodeIds: machines.map((machine) => machine.hardware.id),
      ...(!isCalm && { hurry: randomOf(5) }),
    });
    this.faults = new Faults({
      world,
      network,
      ofServers,
      machines,
      random: ofFaults,
      note: (sentence) => trace.tell(sentence),
    });
  }

  /** Everything has come to rest. */
  rested(): void {
    const { server, judges } = this;
    judges.rested(server.running?.state);
    if (server instanceof SimulatedServer) return;
    for (const [number, { running }] of server.all.entries()) judges.shows(number, running?.state);
  }

  startAgents(): void {
    for (const machine of this.machines) machine.startAgent();
  }
}

interface Served {
  readonly server: SimulatedServer | SimulatedServers;
  readonly ofServers: readonly Fault[];
  /** The server that a call from the machine comes to. */
  readonly reached: (machine: string) => RunningServer | undefined;
}

function alone(
  { world, hash, outside }: ClusterOptions,
  events: GroupEvents,
  ofFaults: Random,
): Served {
  const server = new SimulatedServer({ world, disk: new SimulatedDisk(hash), events, outside });
  return { server, ofServers: faultsOfServer(server, ofFaults), reached: () => server.running };
}

function several(options: ClusterOptions, events: GroupEvents, ofFaults: Random): Served {
  const { world, hash, outside, randomOf, servers: count } = options;
  const server = new SimulatedServers({
    world,
    count,
    hash,
    events,
    outside,
    random: randomOf(6),
  });
  const ofServers = faultsOfServers(server, ofFaults);
  return { server, ofServers, reached: (machine) => server.reachedFrom(machine) };
}
