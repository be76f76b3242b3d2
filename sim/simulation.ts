/**
 * A life: clusters with real servers over a simulated clock, network and disk, simulated machines, users
 * and faults, all in one process. Everything in it is a function of the seed.
 */
import { createHash } from 'node:crypto';
import { SimulatedWorld, seededRandom } from '../src/base/ports-simulated.ts';
import { allTables } from '../src/state/tables.ts';
import type { Snapshot } from '../src/state/types.ts';
import { Cluster } from './cluster.ts';
import { names } from './cluster-names.ts';
import type { Violation } from './judges.ts';
import type { LogName } from './logs/log-names.ts';
import { Peers } from './peers/peers.ts';
import { addressOf, Wires } from './peers/wires.ts';
import type { Process } from './process.ts';
import { Trace } from './trace.ts';

export interface SimulationOptions {
  readonly seed: number;
  /** Machines of each cluster. */
  readonly nodes: number;
  /** Several clusters peer. */
  readonly clusters?: number;
  /** Servers of each cluster; several servers share a log. */
  readonly servers?: number;
  /** The log that several servers share; the default is `memory`. */
  readonly log?: LogName;
  /** Simulated time under load and faults. The time to come to rest is added to it. */
  readonly hours: number;
  /** Leaves out the users in a hurry (`hasty.ts`). */
  readonly calm?: boolean;
  /** Adds users who restore snapshots (`restoring-users.ts`). */
  readonly restores?: boolean;
  /** Etcd comes back older now and then, and the log is recovered (`recoveries.ts`). */
  readonly recoveries?: boolean;
  /** Gives the servers deciders (`deciders.ts`). */
  readonly deciders?: boolean;
  /** Called each simulated minute, with the total. */
  readonly progress?: (minute: number, minutes: number) => void;
  /** Takes the lines of the trace. */
  readonly trace?: (line: string) => void;
  /** Adds each change of this job to the trace. */
  readonly job?: string | undefined;
}

export interface Outcome {
  readonly seed: number;
  /** Hash of every written byte and of the final state. */
  readonly hash: string;
  readonly commits: number;
  /** Number of requests that the servers answered. */
  readonly requests: number;
  /** Number of faults of each kind. */
  readonly faults: Readonly<Record<string, number>>;
  readonly simulatedMs: number;
  readonly violations: readonly Violation[];
}

const minuteMs = 60_000;
/** Time after the faults for the last messages to arrive. */
const calmMinutes = 2;
/** Minutes of the rest at which users repair, promote and resume whatever is stuck. */
const careMinutes = [0, 4, 8, 12, 16, 20];
/** Rounds of promotions after the rest, for canaries that became healthy late, and the pause after each. */
const [lateRounds, lateMinutes] = [3, 10];
/** Long enough for every deadline, reschedule and deployment to run its course. */
const restMinutes = 40;
/** The life ends after a pause without a commit, which is long enough for every reader to read again. */
const pauseMs = 10_000;
const pauseLooks = 100;

/** Number of random streams that a cluster may use. */
const sharesMax = 101;

export const simulate = (options: SimulationOptions): Promise<Outcome> =>
  new Simulation(options).run();

class Simulation {
  readonly #options: SimulationOptions;
  readonly #world: SimulatedWorld;
  readonly #clusters: readonly Cluster[];
  /** Absent in a life with one cluster. */
  readonly #peers: Peers | undefined;
  readonly #trace: Trace;
  readonly #hash = createHash('sha256');
  #minute = 0;

  constructor(options: SimulationOptions) {
    this.#options = options;
    const { seed, nodes, clusters = 1, servers = 1, log = 'memory' } = options;
    const { calm: isCalm = false, restores: hasRestores = false } = options;
    const { deciders: hasDeciders = false, recoveries: hasRecoveries = false } = options;
    const world = new SimulatedWorld(seed);
    this.#world = world;
    this.#trace = new Trace(world, options);
    const hash = this.#hash;
    const chance = (number: number) => (share: number) =>
      seededRandom(seed * 7919 + share + number * sharesMax);
    const between = chance(names.length);
    const wires = new Wires({
      world,
      random: between(0),
      hostOf: (name) => this.#clusters.find((one) => one.name === name)?.server.running,
    });
    const isAlone = clusters === 1;
    this.#clusters = names.slice(0, clusters).map((name, number) => {
      const trace = isAlone ? this.#trace : this.#trace.within(name);
      const address = addressOf(name);
      const outside = {
        address,
        transportOf: (dialer: Process) => wires.transportOf(name, dialer),
      };
      const own = {
        name,
        trace,
        randomOf: chance(number),
        isCalm,
        hasRestores,
        hasRecoveries,
        hasDeciders,
        ...(!isAlone && { outside }),
      };
      return new Cluster({ world, nodes, servers, log, hash, ...own });
    });
    const peering = { world, wires, clusters: this.#clusters, trace: this.#trace };
    this.#peers = isAlone ? undefined : new Peers({ ...peering, randomOf: between });
  }

  async run(): Promise<Outcome> {
    const clusters = this.#clusters;
    for (const { server } of clusters) server.start();
    await this.#world.advance(1000);
    for (const cluster of clusters) cluster.startAgents();
    await this.#minutes(1);
    for (const cluster of clusters) {
      cluster.startUsers();
      cluster.faults.start();
    }
    this.#peers?.start();
    await this.#minutes(Math.ceil(this.#options.hours * 60));
    this.#trace.tell('the faults end');
    for (const { faults } of clusters) faults.end();
    this.#peers?.endFaults();
    await this.#minutes(calmMinutes);
    for (const cluster of clusters) cluster.endUsers();
    for (let minute = 1; minute <= restMinutes; minute++) {
      await this.#minutes(1);
      if (!careMinutes.includes(minute)) continue;
      for (const { workload } of clusters) void workload.repair();
      void this.#peers?.repair();
    }
    await this.#promoteLate();
    await this.#pause();
    for (const cluster of clusters) {
      cluster.rested();
      const state = cluster.server.running?.state;
      if (state !== undefined) this.#hashState(state.read());
    }
    this.#peers?.rested();
    for (const { server } of clusters) server.crash('kept');
    const judges = clusters.map((cluster) => cluster.judges);
    const sum = (of: (judge: (typeof judges)[number]) => number) =>
      judges.reduce((total, judge) => total + of(judge), 0);
    return {
      seed: this.#options.seed,
      hash: this.#hash.digest('hex'),
      commits: sum(({ commits }) => commits),
      requests: sum(({ requests }) => requests),
      faults: this.#countFaults(),
      simulatedMs: this.#world.clock.monotonicMs(),
      violations: this.#violations(),
    };
  }

  /** Canaries that had no room before may have become healthy since users promoted the last time. */
  async #promoteLate(): Promise<void> {
    for (let round = 0; round < lateRounds; round++) {
      const waiting = this.#clusters.filter(({ judges }) => judges.awaitPromotion);
      if (waiting.length === 0) return;
      for (const { workload } of waiting) void workload.repair();
      await this.#minutes(lateMinutes);
    }
  }

  #countFaults(): Readonly<Record<string, number>> {
    const sums: Record<string, number> = {};
    const ofLines = this.#peers === undefined ? [] : [this.#peers.struck];
    const ofRestores = this.#clusters.flatMap(({ restoring, recoveries }) =>
      [restoring, recoveries].flatMap((one) => one?.done ?? []),
    );
    const ofClusters = this.#clusters.map(({ faults }) => faults.struck);
    for (const struck of [...ofClusters, ...ofLines, ...ofRestores]) {
      for (const [kind, count] of struck) sums[kind] = (sums[kind] ?? 0) + count;
    }
    return sums;
  }

  #violations(): readonly Violation[] {
    const isAlone = this.#clusters.length === 1;
    return this.#clusters.flatMap(({ name, judges }) =>
      judges.violations.map(({ guarantee, sentence, atMs }) => ({
        guarantee,
        atMs,
        sentence: isAlone ? sentence : `${name}: ${sentence}`,
      })),
    );
  }

  /** Periodic jobs never rest, so the life ends when nothing has been committed for a while. */
  async #pause(): Promise<void> {
    const written = () => this.#clusters.reduce((sum, { judges }) => sum + judges.commits, 0);
    for (let look = 0; look < pauseLooks; look++) {
      const before = written();
      await this.#world.advance(pauseMs);
      if (written() === before) return;
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
      // So that a table that a life does not use leaves its hash as it was.
      if (definition.isOmittedUnused && view.table(definition).lastIndex() === 0) continue;
      this.#hash.update(definition.name);
      for (const row of view.table(definition).scan()) this.#hash.update(JSON.stringify(row));
    }
  }
}
