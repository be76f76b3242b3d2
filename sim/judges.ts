/** Brings what happens before the checkers, and keeps what they find. */
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import { isTerminalDeployment } from '../src/model/deployment/deployment.ts';
import { groupsToPromote, shortfalls } from '../src/model/deployment/promotion.ts';
import { deployments } from '../src/state/tables.ts';
import type { Change, State } from '../src/state/types.ts';
import { Account } from './account.ts';
import { noAcknowledgedWriteLost } from './checkers/acknowledged.ts';
import { autoRevertLandsOnStable } from './checkers/auto-revert.ts';
import { batchWorkIsDoneOnce } from './checkers/batch-work.ts';
import { blockedReasonIsTrue } from './checkers/blocked-reason.ts';
import type { Checker, Scene } from './checkers/checker.ts';
import { desiredCountsAreReached } from './checkers/desired-counts.ts';
import { whatIsAwayIsWaitedFor } from './checkers/disconnects.ts';
import { tokenDispatchesOnce } from './checkers/dispatches.ts';
import { drainsEnd } from './checkers/drains-end.ts';
import { evictionsAreDeserved } from './checkers/evictions.ts';
import { readsAreExact } from './checkers/exact-reads.ts';
import { failuresAreLookedAt } from './checkers/failures.ts';
import { indexOnlyRises } from './checkers/index-rises.ts';
import { atMostMaxParallelUnhealthy } from './checkers/max-parallel.ts';
import { drainsMoveFewAtATime } from './checkers/migrations.ts';
import { whatRunsHasAJob } from './checkers/orphans.ts';
import { deletedPeeringLeavesNothing } from './checkers/peerings.ts';
import { placementKeepsTheRules } from './checkers/placements.ts';
import { everyServerShowsTheLog } from './checkers/replicas.ts';
import { noResourceTwice } from './checkers/resources.ts';
import { servicesAreThoseOfWhatRuns } from './checkers/services.ts';
import { noSlotTwice } from './checkers/slots.ts';
import { summariesAddUp } from './checkers/summaries.ts';
import { type WatchOptions, watchMissesNothing } from './checkers/watch.ts';
import type { Machine } from './machine.ts';
import type { Network } from './network.ts';
import type { Run } from './run.ts';
import type { SimulatedServer } from './server.ts';
import type { Trace } from './trace.ts';

export interface Violation {
  readonly guarantee: string;
  readonly sentence: string;
  readonly atMs: number;
}

/** More of one kind tell nothing new. */
const keptOfEach = 5;

export interface JudgesOptions {
  readonly world: SimulatedWorld;
  readonly server: WatchOptions['server'] & Pick<SimulatedServer, 'clock'>;
  readonly network: Network;
  readonly machines: readonly Machine[];
  readonly trace: Trace;
  /** Whether the cluster has several servers. */
  readonly isShared: boolean;
}

type Ask = (checker: Checker, scene: Scene, fault: (sentence: string) => void) => void;

export class Judges {
  readonly violations: Violation[] = [];
  commits = 0;
  requests = 0;
  readonly #options: JudgesOptions;
  readonly #account = new Account();
  readonly #machines: ReadonlyMap<string, Machine>;
  readonly #checkers: readonly Checker[];
  readonly #replicas = everyServerShowsTheLog();
  readonly #found = new Map<string, number>();
  #state: State | undefined;

  constructor(options: JudgesOptions) {
    this.#options = options;
    const { machines, network } = options;
    this.#machines = new Map(machines.map((machine) => [machine.hardware.id, machine]));
    const acknowledged = noAcknowledgedWriteLost();
    this.#checkers = [
      noResourceTwice(),
      placementKeepsTheRules(),
      indexOnlyRises(),
      atMostMaxParallelUnhealthy(),
      drainsMoveFewAtATime(),
      autoRevertLandsOnStable(),
      acknowledged,
      watchMissesNothing({ ...options, nodeIds: [...this.#machines.keys()] }),
      desiredCountsAreReached(),
      batchWorkIsDoneOnce(),
      blockedReasonIsTrue(),
      summariesAddUp(),
      evictionsAreDeserved(),
      noSlotTwice(),
      tokenDispatchesOnce(),
      whatIsAwayIsWaitedFor(),
      drainsEnd(),
      failuresAreLookedAt(),
      servicesAreThoseOfWhatRuns(),
      deletedPeeringLeavesNothing(),
      whatRunsHasAJob(),
      this.#replicas,
      ...(options.isShared ? [readsAreExact(options)] : []),
    ];
    network.onServed = ({ method, url }, { status, index }) => {
      this.requests++;
      if (status !== 200 || method === 'GET') return;
      acknowledged.answered(index, `${method} ${url}`, this.#account, (sentence) =>
        this.found(acknowledged.guarantee, sentence),
      );
    };
  }

  opened(state: State): void {
    const isFirst = this.#state === undefined;
    this.#state = state;
    if (!isFirst) this.#ask((checker, scene, fault) => checker.restarted?.(scene, fault));
    this.#account.reset(state.read());
    this.#ask((checker, scene) => checker.resumed?.(scene));
    state.onCommit((changes, index) => {
      if (this.#state === state) this.#committed(changes, index);
    });
  }

  /** One of several servers heard of a commit. */
  heard(server: number, changes: readonly Change[], index: number): void {
    this.#replicas.heard(server, changes, index, this.#foundOfReplicas);
  }

  /** Another of several servers leads from now on: it knows what the log holds, and nothing else. */
  led(): void {
    this.#ask((checker, scene, fault) => checker.restarted?.(scene, fault));
    this.#ask((checker, scene) => checker.resumed?.(scene));
  }

  /** Whether canaries are healthy and only a person's word is missing. */
  get awaitPromotion(): boolean {
    return [...this.#account.rows(deployments).values()].some((deployment) => {
      const groups = groupsToPromote(deployment);
      const members = [...this.#account.allocationsOf(deployment)];
      return (
        !isTerminalDeployment(deployment) &&
        groups.length > 0 &&
        shortfalls(deployment, groups, members).length === 0
      );
    });
  }

  moved(machine: Machine, run: Run): void {
    if (!run.isRunning) return;
    this.#ask((checker, scene, fault) => checker.moved?.(machine, run, scene, fault));
  }

  rested(state: State | undefined): void {
    if (state === undefined) this.found('the server comes back', 'it does not run');
    else this.#ask((checker, scene, fault) => checker.rested?.(scene, fault));
  }

  /** At rest, one of several servers shows this. */
  shows(server: number, state: State | undefined): void {
    if (state === undefined) this.found('the server comes back', `server ${server} does not run`);
    else this.#replicas.shows(server, state.read(), this.#account, this.#foundOfReplicas);
  }

  /** The server says that something failed. What a failing disk does to writes is part of the play. */
  failed(sentence: string, fields: object): void {
    const { error } = fields as { error?: Error };
    if (error !== undefined && isPartOfThePlay(error)) return;
    this.found('no error is a surprise', `${sentence}: ${error?.stack ?? JSON.stringify(fields)}`);
  }

  found(guarantee: string, sentence: string): void {
    const { world, trace } = this.#options;
    trace.tell(`VIOLATION ${guarantee}: ${sentence}`);
    const count = (this.#found.get(guarantee) ?? 0) + 1;
    this.#found.set(guarantee, count);
    if (count > keptOfEach) return;
    this.violations.push({ guarantee, sentence, atMs: world.clock.monotonicMs() });
  }

  readonly #foundOfReplicas = (sentence: string) => this.found(this.#replicas.guarantee, sentence);

  #committed(changes: readonly Change[], index: number): void {
    this.commits++;
    this.#account.apply(changes, index);
    this.#options.trace.follow(changes, index);
    this.#ask((checker, scene, fault) => checker.committed?.(changes, index, scene, fault));
  }

  #ask(ask: Ask): void {
    const state = this.#state;
    if (state === undefined) return;
    const { server, world } = this.#options;
    const scene = {
      account: this.#account,
      view: state.read(),
      machines: this.#machines,
      nowMs: server.clock.nowMs(),
      elapsedMs: world.clock.monotonicMs(),
    };
    for (const checker of this.#checkers) {
      ask(checker, scene, (sentence) => this.found(checker.guarantee, sentence));
    }
  }
}

const isPartOfThePlay = (error: Error): boolean =>
  /input\/output error|writes are closed|taken over|does not lead|did not answer|has passed|another process|log ends at|is full|no space is left|is closing/i.test(
    `${error.message} ${(error.cause as Error | undefined)?.message ?? ''}`,
  );
