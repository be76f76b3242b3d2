/**
 * A cluster and its whole life in one process: the real server over a simulated clock, network and
 * disk, simulated machines, people at work, and what goes wrong. A function of the seed.
 */
import { createHash } from 'node:crypto';
import { SimulatedWorld, seededRandom } from '../src/base/ports-simulated.ts';
import { allTables } from '../src/state/tables.ts';
import type { Change, Snapshot, Stamps, State } from '../src/state/types.ts';
import { Ledger, noAcknowledgedWriteLost } from './checkers/acknowledged.ts';
import { autoRevertLandsOnStable } from './checkers/auto-revert.ts';
import { blockedReasonIsTrue } from './checkers/blocked-reason.ts';
import type { Checker, Scene } from './checkers/checker.ts';
import { desiredCountsAreReached } from './checkers/desired-counts.ts';
import { indexOnlyRises } from './checkers/index-rises.ts';
import { atMostMaxParallelUnhealthy } from './checkers/max-parallel.ts';
import { noResourceTwice } from './checkers/resources.ts';
import { watchMissesNothing } from './checkers/watch.ts';
import { Faults } from './faults.ts';
import { type Hardware, Machine } from './machine.ts';
import { Network } from './network.ts';
import { Process } from './process.ts';
import { SimulatedServer } from './server.ts';
import { Workload } from './workload.ts';

export interface SimulationOptions {
  readonly seed: number;
  readonly nodes: number;
  /** Simulated time with load and faults; the time to come to rest is on top. */
  readonly hours: number;
  /** Called each simulated minute. */
  readonly progress?: (minute: number) => void;
  /** What happens, line by line. */
  readonly trace?: (line: string) => void;
  /** Trace what becomes of this job as well. */
  readonly job?: string | undefined;
}

export interface Violation {
  readonly guarantee: string;
  readonly sentence: string;
  readonly atMs: number;
}

export interface Outcome {
  readonly seed: number;
  /** Of every commit and of the state in the end. */
  readonly hash: string;
  readonly commits: number;
  readonly simulatedMs: number;
  readonly violations: readonly Violation[];
}

const minuteMs = 60_000;
/** After the faults: long enough for every deadline, reschedule and deployment to run its course. */
const restMinutes = 40;
const violationsKept = 20;

export async function simulate(options: SimulationOptions): Promise<Outcome> {
  const simulation = new Simulation(options);
  return simulation.run();
}

class Simulation {
  readonly #options: SimulationOptions;
  readonly #world: SimulatedWorld;
  readonly #server: SimulatedServer;
  readonly #machines: readonly Machine[];
  readonly #byId: ReadonlyMap<string, Machine>;
  readonly #workload: Workload;
  readonly #faults: Faults;
  readonly #checkers: readonly Checker[];
  readonly #violations: Violation[] = [];
  readonly #hash = createHash('sha256');
  #state: State | undefined;
  #commits = 0;

  constructor(options: SimulationOptions) {
    this.#options = options;
    const { seed, nodes } = options;
    const world = new SimulatedWorld(seed);
    this.#world = world;
    this.#server = new SimulatedServer(world);
    this.#server.onOpened = (state) => this.#opened(state);
    this.#server.onError = (sentence, fields) => {
      const { error } = fields as { error?: Error };
      // What a failing disk does to writes is part of the play.
      if (error === undefined || !isPartOfThePlay(error)) {
        this.#found(
          'no error is a surprise',
          `${sentence}: ${error?.stack ?? JSON.stringify(fields)}`,
        );
      }
    };
    const random = seededRandom(seed * 7919 + 17);
    const network = new Network(world, seededRandom(seed * 31 + 5), () => this.#server.running);
    this.#machines = Array.from(
      { length: nodes },
      (_, number) => new Machine(world, random, network, hardware(number, world)),
    );
    this.#byId = new Map(this.#machines.map((machine) => [machine.hardware.id, machine]));
    const ledger = new Ledger();
    const nodeIds = [...this.#byId.keys()];
    const unexpected = (sentence: string) => this.#found('no answer is a surprise', sentence);
    this.#workload = new Workload({
      ...{ world, network, ledger, nodeIds, unexpected },
      random: seededRandom(seed * 101 + 3),
    });
    this.#faults = new Faults({
      ...{ world, network, server: this.#server, machines: this.#machines },
      random: seededRandom(seed * 211 + 11),
      note: (sentence) => this.#trace(sentence),
    });
    this.#checkers = [
      noResourceTwice(),
      indexOnlyRises(),
      atMostMaxParallelUnhealthy(),
      autoRevertLandsOnStable(),
      noAcknowledgedWriteLost(ledger),
      watchMissesNothing(network, new Process(world)),
      desiredCountsAreReached(),
      blockedReasonIsTrue(),
    ];
  }

  async run(): Promise<Outcome> {
    const { hours, seed } = this.#options;
    void this.#server.start();
    await this.#world.advance(1000);
    for (const machine of this.#machines) machine.startAgent();
    await this.#minutes(1, 0);
    this.#workload.start();
    this.#faults.start();
    const minutes = Math.ceil(hours * 60);
    await this.#minutes(minutes, 1);
    this.#faults.end();
    await this.#minutes(2, minutes + 1);
    void this.#workload.end();
    for (let minute = 0; minute < restMinutes; minute += 4) {
      void this.#workload.promoteAll();
      await this.#minutes(4, minutes + 3 + minute);
    }
    this.#check((checker, scene, fault) => checker.rested?.(scene, fault));
    const state = this.#server.running?.state;
    if (state === undefined) this.#found('the server comes back', 'it does not run');
    else this.#hashState(state.read());
    this.#server.crash('kept');
    return {
      ...{ seed, hash: this.#hash.digest('hex'), commits: this.#commits },
      simulatedMs: this.#world.clock.monotonicMs(),
      violations: this.#violations,
    };
  }

  async #minutes(count: number, from: number): Promise<void> {
    for (let minute = 0; minute < count; minute++) {
      await this.#world.advance(minuteMs);
      this.#options.progress?.(from + minute + 1);
    }
  }

  #opened(state: State): void {
    this.#state = state;
    if (this.#commits > 0)
      this.#check((checker, scene, fault) => checker.restarted?.(scene, fault));
    state.onCommit((changes, index) => {
      if (this.#state !== state) return;
      this.#commits++;
      this.#hash.update(`${index}:`);
      for (const { table, after } of changes)
        this.#hash.update(`${table} ${JSON.stringify(after)}\n`);
      for (const change of changes) this.#tell(index, change);
      this.#check((checker, scene, fault) => checker.committed?.(changes, index, scene, fault));
    });
  }

  /** A change of the job that is looked at. */
  #tell(index: number, { table, after }: Change): void {
    const { job } = this.#options;
    const row = after as (Stamps & Record<string, unknown>) | undefined;
    if (job === undefined || (row?.JobID !== job && row?.ID !== job)) return;
    const told = toldOf(row).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    this.#trace(`${index} ${table} ${told.join(' ')}`);
  }

  #check(ask: (checker: Checker, scene: Scene, fault: (sentence: string) => void) => void): void {
    const state = this.#state;
    if (state === undefined) return;
    const nowMs = this.#world.clock.nowMs();
    const scene: Scene = { view: state.read(), machines: this.#byId, nowMs };
    for (const checker of this.#checkers) {
      ask(checker, scene, (sentence) => this.#found(checker.guarantee, sentence));
    }
  }

  #found(guarantee: string, sentence: string): void {
    const atMs = this.#world.clock.monotonicMs();
    this.#trace(`VIOLATION ${guarantee}: ${sentence}`);
    if (this.#violations.length < violationsKept)
      this.#violations.push({ guarantee, sentence, atMs });
  }

  #trace(line: string): void {
    const seconds = (this.#world.clock.monotonicMs() / 1000).toFixed(3);
    this.#options.trace?.(`${seconds.padStart(12)}  ${line}`);
  }

  #hashState(view: Snapshot): void {
    for (const definition of allTables) {
      this.#hash.update(definition.name);
      for (const row of view.table(definition).scan()) this.#hash.update(JSON.stringify(row));
    }
  }
}

const telling = [
  ...['ID', 'Version', 'Stable', 'Stop', 'Name', 'NodeID', 'JobVersion', 'Status', 'TriggeredBy'],
  ...['StatusDescription', 'DesiredStatus', 'DesiredDescription', 'ClientStatus', 'DeploymentID'],
  ...['DeploymentStatus', 'PreviousAllocation', 'DesiredTransition', 'QueuedAllocations'],
];

const toldOf = (row: Record<string, unknown>): [string, unknown][] =>
  telling.flatMap((name): [string, unknown][] => {
    const value = row[name];
    const isSaying = value !== undefined && value !== null && value !== '' && value !== false;
    if (!isSaying) return [];
    return [[name, typeof value === 'string' && value.length === 36 ? value.slice(0, 8) : value]];
  });

const isPartOfThePlay = (error: Error): boolean =>
  /input\/output error|writes are closed|taken over|another process|log ends at/i.test(
    `${error.message} ${(error.cause as Error | undefined)?.message ?? ''}`,
  );

const racks = 5;

const hardware = (number: number, world: SimulatedWorld): Hardware => ({
  id: world.ids.uuid(),
  name: `node-${number}`,
  datacenter: number % 3 === 0 ? 'dc2' : 'dc1',
  rack: `rack-${number % racks}`,
  cpuMhz: 4000 + (number % 4) * 2000,
  memoryMb: 4096 * (1 + (number % 3)),
});
