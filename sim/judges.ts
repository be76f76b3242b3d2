/** Runs the checkers on each event of a life and keeps the violations. */
import type { Clock } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import { isTerminalDeployment } from '../src/model/deployment/deployment.ts';
import { groupsToPromote, shortfalls } from '../src/model/deployment/promotion.ts';
import type { Node } from '../src/model/node/node.ts';
import { clusterIdentity, deployments } from '../src/state/tables.ts';
import type { Change, State } from '../src/state/types.ts';
import { Account } from './account.ts';
import { noAcknowledgedWriteLost } from './checkers/acknowledged.ts';
import { autoRevertLandsOnStable } from './checkers/auto-revert.ts';
import { batchWorkIsDoneOnce } from './checkers/batch-work.ts';
import { blockedReasonIsTrue } from './checkers/blocked-reason.ts';
import type { Checker, Scene } from './checkers/checker.ts';
import { desiredCountsAreReached } from './checkers/desired-counts.ts';
import { disconnectsAreRespected } from './checkers/disconnects.ts';
import { tokenDispatchesOnce } from './checkers/dispatches.ts';
import { drainsEnd } from './checkers/drains-end.ts';
import { endedStaysEnded } from './checkers/ended.ts';
import { onlyHigherPriorityEvicts } from './checkers/evictions.ts';
import { readsSeeDurableWrites } from './checkers/exact-reads.ts';
import { failuresAreReplaced } from './checkers/failures.ts';
import { newLeadersWaitForNodes } from './checkers/grace.ts';
import { indexOnlyRises } from './checkers/index-rises.ts';
import { atMostMaxParallelUnhealthy } from './checkers/max-parallel.ts';
import { drainsMoveFewAtATime } from './checkers/migrations.ts';
import { noOrphansRun } from './checkers/orphans.ts';
import { deletedPeeringLeavesNothing } from './checkers/peerings.ts';
import { placementObeysConstraints } from './checkers/placements.ts';
import { everyServerShowsTheLog } from './checkers/replicas.ts';
import { noResourceTwice } from './checkers/resources.ts';
import { restoresAreWhole, unknownAllocationsGoOn } from './checkers/restores.ts';
import { servicesMatchAllocations } from './checkers/services.ts';
import { noSlotTwice } from './checkers/slots.ts';
import { staleReadsTellTheirAge } from './checkers/stale-reads.ts';
import { summariesAddUp } from './checkers/summaries.ts';
import { type WatchOptions, watchMissesNothing } from './checkers/watch.ts';
import type { Machine } from './machine.ts';
import type { Call, Network } from './network.ts';
import type { Run } from './run.ts';
import type { Trace } from './trace.ts';

export interface Violation {
  readonly guarantee: string;
  readonly sentence: string;
  readonly atMs: number;
}

/** Violations of a guarantee that are reported; more of them add nothing. */
const keptOfEach = 5;

/** Time in which the checkers have learned of a restore. */
const toldAfterMs = 1;

/** Guarantees that no single checker watches. */
export const guarantees = {
  answers: 'no answer is unexpected',
  errors: 'no logged error is unexpected',
  restart: 'the server restarts',
  registers: 'writes and reads are linearizable',
  whole: 'etcd holds a whole state at any time',
  diverged: 'an etcd that came back older is not followed',
  versions: 'every server reads what is written',
  key: 'a server without the root key is nobody',
  health: 'a size that etcd does not tell is unknown',
  time: 'the time of the log never goes back',
} as const;

export interface JudgesOptions {
  readonly world: SimulatedWorld;
  readonly server: WatchOptions['server'] & { readonly clock: Pick<Clock, 'nowMs'> };
  readonly network: Network;
  readonly machines: readonly Machine[];
  readonly trace: Trace;
  /** Whether the cluster has several servers. */
  readonly isShared: boolean;
  /** Whether a leader knows when its log last answered. */
  readonly knowsContact: boolean;
  /** Called when a snapshot was restored; absent in a life without restores. */
  readonly restored?: (() => void) | undefined;
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
    const grace = newLeadersWaitForNodes();
    const stale = options.knowsContact ? staleReadsTellTheirAge(options) : undefined;
    const checkers: readonly Checker[] = [
      noResourceTwice(),
      placementObeysConstraints(),
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
      onlyHigherPriorityEvicts(),
      noSlotTwice(),
      tokenDispatchesOnce(),
      disconnectsAreRespected(),
      drainsEnd(),
      failuresAreReplaced(),
      endedStaysEnded(),
      servicesMatchAllocations(),
      deletedPeeringLeavesNothing(),
      noOrphansRun(),
      grace,
      this.#replicas,
      ...(options.isShared ? [readsSeeDurableWrites(options)] : []),
      ...(stale ? [stale] : []),
    ];
    this.#checkers =
      options.restored === undefined
        ? checkers
        : [...checkers, restoresAreWhole(), unknownAllocationsGoOn()];
    network.onServed = (call, { status, index }) => {
      const { method, url } = call;
      this.requests++;
      if (status !== 200 || method === 'GET') return;
      const nodeId = nodeOf(call);
      this.#whenTold(() => {
        if (nodeId !== undefined) grace.answered(nodeId);
        stale?.answered(index);
        acknowledged.answered(index, `${method} ${url}`, this.#account, (sentence) =>
          this.report(acknowledged.guarantee, sentence),
        );
      });
    };
  }

  opened(state: State): void {
    const isFirst = this.#state === undefined;
    this.#state = state;
    const { Restore } = state.read().table(clusterIdentity).get('cluster') ?? {};
    // The server died when the restore was durable, and before it could tell.
    if (Restore !== undefined && Restore.Index > this.#account.index) {
      this.#restored(state, Restore.Index);
    } else if (!isFirst) {
      this.#askAll((checker, scene, fault) => checker.restarted?.(scene, fault));
    }
    this.#account.reset(state.read());
    this.#askAll((checker, scene) => checker.resumed?.(scene));
    state.onCommit((changes, index) => {
      if (this.#state === state) this.#committed(changes, index);
    });
    state.onReplaced((index) => {
      if (this.#state === state) this.#restored(state, index);
    });
  }

  /** One of several servers has loaded the log. */
  joined(server: number, index: number): void {
    this.#whenTold(() => this.#replicas.joined(server, index));
  }

  /** One of several servers applied a commit. */
  heard(server: number, changes: readonly Change[], index: number): void {
    this.#whenTold(() => this.#replicas.heard(server, changes, index, this.#reportReplica));
  }

  /** A new leader knows only the contents of the log, like a server that restarts. */
  termBegan(): void {
    this.#askAll((checker, scene, fault) => checker.restarted?.(scene, fault));
    this.#askAll((checker, scene) => checker.resumed?.(scene));
  }

  /** Whether a deployment with healthy canaries waits for a promotion. */
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
    this.#askAll((checker, scene, fault) => checker.moved?.(machine, run, scene, fault));
  }

  abandoned(machine: Machine, run: Run): void {
    this.#askAll((checker, scene, fault) => checker.abandoned?.(machine, run, scene, fault));
  }

  rested(state: State | undefined): void {
    if (state === undefined) this.report(guarantees.restart, 'the server does not run');
    else this.#askAll((checker, scene, fault) => checker.rested?.(scene, fault));
  }

  /** At rest, compares the state of one of several servers with the log. */
  compareServer(server: number, state: State | undefined): void {
    if (state === undefined) this.report(guarantees.restart, `server ${server} does not run`);
    else this.#replicas.shows(server, state.read(), this.#account, this.#reportReplica);
  }

  /** The server logged an error. Faults of the disk and of leadership explain some errors. */
  failed(sentence: string, fields: object): void {
    const { error } = fields as { error?: Error };
    if (error !== undefined && isExplained(error)) return;
    this.report(guarantees.errors, `${sentence}: ${error?.stack ?? JSON.stringify(fields)}`);
  }

  report(guarantee: string, sentence: string): void {
    const { world, trace } = this.#options;
    trace.tell(`VIOLATION ${guarantee}: ${sentence}`);
    const count = (this.#found.get(guarantee) ?? 0) + 1;
    this.#found.set(guarantee, count);
    if (count > keptOfEach) return;
    this.violations.push({ guarantee, sentence, atMs: world.clock.monotonicMs() });
  }

  readonly #reportReplica = (sentence: string) => this.report(this.#replicas.guarantee, sentence);

  #committed(changes: readonly Change[], index: number): void {
    this.commits++;
    this.#account.apply(changes, index);
    this.#options.trace.follow(changes, index);
    this.#askAll((checker, scene, fault) => checker.committed?.(changes, index, scene, fault));
  }

  /** The checkers learn of a restore in slices, so in a life with restores they are asked a little later. */
  #whenTold(ask: () => void): void {
    const { restored, world } = this.#options;
    if (restored === undefined) ask();
    else world.timers.after(toldAfterMs, ask);
  }

  #restored(state: State, index: number): void {
    this.commits++;
    this.#options.trace.tell(`a snapshot is restored, at index ${index}`);
    const changes = this.#account.restore(state.read());
    this.#askAll((checker, scene, fault) => checker.restored?.(changes, index, scene, fault));
    this.#options.restored?.();
  }

  #askAll(ask: Ask): void {
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
      ask(checker, scene, (sentence) => this.report(checker.guarantee, sentence));
    }
  }
}

const isExplained = (error: Error): boolean =>
  /input\/output error|writes are closed|taken over|does not lead|did not answer|has passed|another process|log ends at|is full|no space is left|space exceeded|was compacted|is a future revision|is closing|there is a snapshot at|does not tell this user its size|on this machine is not used/i.test(
    `${error.message} ${(error.cause as Error | undefined)?.message ?? ''}`,
  );

/** The node whose heartbeat or registration the request is. */
function nodeOf({ url, body }: Pick<Call, 'url' | 'body'>): string | undefined {
  if (url === '/v1/node/register') return (body as { readonly Node: Pick<Node, 'ID'> }).Node.ID;
  return /^\/v1\/node\/([^/]+)\/heartbeat$/.exec(url)?.[1];
}
