/** One cluster of a simulation: its server, its machines, the people who use it, and what goes wrong. */
import type { Hash } from 'node:crypto';
import type { Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import { SimulatedDisk } from './disk.ts';
import { Faults } from './faults.ts';
import { hardware } from './hardware.ts';
import { Judges } from './judges.ts';
import { Machine } from './machine.ts';
import { Network } from './network.ts';
import { type Outside, type ServerEvents, SimulatedServer } from './server.ts';
import type { Trace } from './trace.ts';
import { Workload } from './workload.ts';

export interface ClusterOptions {
  readonly world: SimulatedWorld;
  readonly name: string;
  readonly nodes: number;
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
  readonly server: SimulatedServer;
  readonly network: Network;
  readonly machines: readonly Machine[];
  readonly workload: Workload;
  readonly faults: Faults;
  readonly judges: Judges;

  constructor(options: ClusterOptions) {
    const { world, name, nodes, trace, hash, randomOf, isCalm, outside } = options;
    this.name = name;
    const events: ServerEvents = {
      opened: (state) => this.judges.opened(state),
      failed: (sentence, fields) => this.judges.failed(sentence, fields),
    };
    const server = new SimulatedServer(world, new SimulatedDisk(hash), events, outside);
    this.server = server;
    const network = new Network(world, randomOf(1), () => server.running);
    this.network = network;
    const machineRandom = randomOf(2);
    const unexpected = (sentence: string) => this.judges.found('no answer is a surprise', sentence);
    this.machines = Array.from({ length: nodes }, (_, number): Machine => {
      const machine = new Machine({
        ...{ world, network, random: machineRandom, server: () => server.running, unexpected },
        hardware: hardware(number, world.ids),
        moved: (run) => this.judges.moved(machine, run),
      });
      return machine;
    });
    const { machines } = this;
    this.judges = new Judges({ world, server, network, machines, trace });
    this.workload = new Workload({
      ...{ world, network, random: randomOf(3), unexpected },
      nodeIds: machines.map((machine) => machine.hardware.id),
      ...(!isCalm && { hurry: randomOf(5) }),
    });
    this.faults = new Faults({
      ...{ world, network, server, machines, random: randomOf(4) },
      note: (sentence) => trace.tell(sentence),
    });
  }

  startAgents(): void {
    for (const machine of this.machines) machine.startAgent();
  }
}
