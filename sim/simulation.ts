/**
 * A cluster and its whole life in one process: the real server over a simulated clock, network and
 * disk, simulated machines, people at work, and what goes wrong. A function of the seed.
 */
import { createHash } from 'node:crypto';
import { SimulatedWorld, seededRandom } from '../src/base/ports-simulated.ts';
import { allTables } from '../src/state/tables.ts';
import type { Snapshot } from '../src/state/types.ts';
import { SimulatedDisk } from './disk.ts';
import { Faults } from './faults.ts';
import { hardware } from './hardware.ts';
import { Judges, type Violation } from './judges.ts';
import { Machine } from './machine.ts';
import { Network } from './network.ts';
import { SimulatedServer } from './server.ts';
import { Trace } from './trace.ts';
import { Workload } from './workload.ts';

export interface SimulationOptions {
  readonly seed: number;
  readonly nodes: number;
  /** Simulated time with load and faults; the time to come to rest is on top. */
  readonly hours: number;
  /** Called each simulated minute, with how many there are. */
  readonly progress?: (minute: number, minutes: number) => void;
  /** What happens, line by line. */
  readonly trace?: (line: string) => void;
  /** Trace what becomes of this job as well. */
  readonly job?: string | undefined;
}

export interface Outcome {
  readonly seed: number;
  /** Of every byte that was written, and of the state in the end. */
  readonly hash: string;
  readonly commits: number;
  /** Requests that the server answered. */
  readonly requests: number;
  /** Faults that struck. */
  readonly faults: number;
  readonly simulatedMs: number;
  readonly violations: readonly Violation[];
}

const minuteMs = 60_000;
/** After the faults: until the last message has arrived, or is lost. */
const calmMinutes = 2;
/** After that, people still see to it that everything gets done, every so many minutes. */
const careMinutes = [0, 4, 8, 12, 16, 20];
/** Long enough for every deadline, reschedule and deployment to run its course. */
const restMinutes = 40;
/** Then the end comes in the next pause that lets every reader read once more. */
const pauseMs = 10_000;
const pauseLooks = 100;

export const simulate = (options: SimulationOptions): Promise<Outcome> =>
  new Simulation(options).run();

class Simulation {
  readonly #options: SimulationOptions;
  readonly #world: SimulatedWorld;
  readonly #server: SimulatedServer;
  readonly #machines: readonly Machine[];
  readonly #workload: Workload;
  readonly #faults: Faults;
  readonly #judges: Judges;
  readonly #trace: Trace;
  readonly #hash = createHash('sha256');
  #minute = 0;

  constructor(options: SimulationOptions) {
    this.#options = options;
    const { seed, nodes } = options;
    const world = new SimulatedWorld(seed);
    this.#world = world;
    const trace = new Trace(world, options);
    this.#trace = trace;
    const randomOf = (share: number) => seededRandom(seed * 7919 + share);
    const server = new SimulatedServer(world, new SimulatedDisk(this.#hash), {
      opened: (state) => this.#judges.opened(state),
      failed: (sentence, fields) => this.#judges.failed(sentence, fields),
    });
    this.#server = server;
    const network = new Network(world, randomOf(1), () => server.running);
    const machineRandom = randomOf(2);
    const machines = Array.from({ length: nodes }, (_, number): Machine => {
      const machine = new Machine({
        ...{ world, network, random: machineRandom, server: () => server.running },
        hardware: hardware(number, world.ids),
        moved: (run) => this.#judges.moved(machine, run),
        unexpected: (sentence) => this.#judges.found('no answer is a surprise', sentence),
      });
      return machine;
    });
    this.#machines = machines;
    this.#judges = new Judges({ world, server, network, machines, trace });
    this.#workload = new Workload({
      ...{ world, network, random: randomOf(3) },
      nodeIds: machines.map((machine) => machine.hardware.id),
      unexpected: (sentence) => this.#judges.found('no answer is a surprise', sentence),
    });
    this.#faults = new Faults({
      ...{ world, network, server, machines, random: randomOf(4) },
      note: (sentence) => trace.tell(sentence),
    });
  }

  async run(): Promise<Outcome> {
    this.#server.start();
    await this.#world.advance(1000);
    for (const machine of this.#machines) machine.startAgent();
    await this.#minutes(1);
    this.#workload.start();
    this.#faults.start();
    await this.#minutes(Math.ceil(this.#options.hours * 60));
    this.#trace.tell('the faults end');
    this.#faults.end();
    await this.#minutes(calmMinutes);
    void this.#workload.end();
    for (let minute = 1; minute <= restMinutes; minute++) {
      await this.#minutes(1);
      if (careMinutes.includes(minute)) void this.#workload.lookAfter();
    }
    await this.#pause();
    const state = this.#server.running?.state;
    this.#judges.rested(state);
    if (state !== undefined) this.#hashState(state.read());
    this.#server.crash('kept');
    return {
      ...{ seed: this.#options.seed, hash: this.#hash.digest('hex') },
      ...{ commits: this.#judges.commits, requests: this.#judges.requests },
      faults: this.#faults.struck,
      simulatedMs: this.#world.clock.monotonicMs(),
      violations: this.#judges.violations,
    };
  }

  /** What launches by a schedule never rests: the end is where nothing has just been written. */
  async #pause(): Promise<void> {
    for (let look = 0; look < pauseLooks; look++) {
      const { commits } = this.#judges;
      await this.#world.advance(pauseMs);
      if (this.#judges.commits === commits) return;
    }
  }

  async #minutes(count: number): Promise<void> {
    const { hours, progress } = this.#options;
    const all = 1 + Math.ceil(hours * 60) + calmMinutes + restMinutes;
    for (let minute = 0; minute < count; minute++) {
      await this.#world.advance(minuteMs);
      progress?.(++this.#minute, all);
    }
  }

  #hashState(view: Snapshot): void {
    for (const definition of allTables) {
      this.#hash.update(definition.name);
      for (const row of view.table(definition).scan()) this.#hash.update(JSON.stringify(row));
    }
  }
}
