import { limits } from '../model/limits.ts';
import { isKnownAlive } from '../model/node/node.ts';
import { nodes } from '../state/tables.ts';
import { termState } from '../state/term-state.ts';
import type { Term } from '../state/types.ts';
import { TokenReaper } from './acl/reaper.ts';
import { seedAcl, seedScopes } from './acl/seed.ts';
import type { ServerContext } from './context.ts';
import { DeploymentWatcher } from './deployments/watcher.ts';
import { GarbageCollector } from './garbage/collector.ts';
import { Planner } from './jobs/plan/planner.ts';
import { seedScalingPolicies } from './jobs/scaling-policies.ts';
import { seedNodePools } from './node-pools/pools.ts';
import { Drainer } from './nodes/drainer.ts';
import { Heartbeats } from './nodes/heartbeats.ts';
import { awaitedUntilMs, noteMissed } from './nodes/missed.ts';
import { seedIdentity } from './peering/context.ts';
import { ServiceExchange } from './peering/exchange/service-exchange.ts';
import type { PeeringTransport } from './peering/link.ts';
import { Peerings } from './peering/peerings.ts';
import { PeriodicLauncher } from './periodic/launcher.ts';
import { Plans } from './plans/plans.ts';
import {
  configurationFor,
  configurationIn,
  configurationInPool,
} from './scheduler-configuration/read.ts';
import { FedDecider } from './scheduling/decider/fed-decider.ts';
import { Decisions } from './scheduling/evaluations/decisions.ts';
import { EvaluationDispatcher } from './scheduling/evaluations/dispatcher.ts';
import { type DecisionFigures, EvaluationWorker } from './scheduling/evaluations/worker.ts';
import type { ServerOptions } from './server-options.ts';
import { NodeReturns } from './snapshots/node-returns.ts';
import type { SnapshotSaver } from './snapshots/save.ts';
import { SnapshotSchedule } from './snapshots/schedule.ts';
import { Upgrades, type UpgradesOptions } from './upgrade/upgrades.ts';

/** Parts of the server that outlive a term. */
export interface LeadingMeans {
  /** Told of nodes that garbage collection has deleted. */
  readonly forgetNode: (nodeId: string) => void;
  /** Whether nodes reach this server. */
  readonly isHeard: () => boolean;
  readonly saver: SnapshotSaver;
  /** This server, as other programs may read the state that it writes. */
  readonly own: UpgradesOptions;
}

/**
 * The loops that drive the state to the wanted state, in a single term of leadership.
 *
 * Invariants
 *  T1. Its memory is derived from the state when it starts, or begins empty. It takes nothing over from
 *      the term before.
 *  T2. After `stop` it has no timer and no listener. Work under way writes nothing more, since its state
 *      is bound to its term.
 */
export class Leading {
  /** When the term began, by the clock of this server. */
  readonly sinceMs: number;
  readonly heartbeats: Heartbeats;
  readonly dispatcher: EvaluationDispatcher;
  readonly decisions = new Decisions();
  readonly planner: Planner;
  readonly plans: Plans;
  /** The exchange of services with peers. */
  readonly exchange: ServiceExchange;
  readonly garbage: GarbageCollector;
  /** The nodes after a restore. */
  readonly returns: NodeReturns;
  readonly peerings: Peerings;
  readonly upgrades: Upgrades;
  readonly #context: ServerContext;
  readonly #options: ServerOptions;
  readonly #worker: EvaluationWorker;
  readonly #deployments: DeploymentWatcher;
  readonly #drainer: Drainer;
  readonly #launcher: PeriodicLauncher;
  readonly #reaper: TokenReaper;
  /** Snapshots on a schedule, if there are any. */
  readonly schedule: SnapshotSchedule | undefined;
  readonly #isHeard: () => boolean;
  #isStarted = false;
  #isStopped = false;

  constructor(
    given: ServerContext,
    term: Term,
    options: ServerOptions,
    { forgetNode, saver, isHeard, own }: LeadingMeans,
  ) {
    const context = { ...given, state: termState(given.state, term) };
    const { state, world } = context;
    this.#context = context;
    this.#options = options;
    this.sinceMs = world.clock.nowMs();
    this.#isHeard = isHeard;
    this.#reaper = new TokenReaper(context);
    this.returns = new NodeReturns(context);
    this.schedule = options.snapshots && new SnapshotSchedule(context, saver, options.snapshots);
    this.exchange = new ServiceExchange(context);
    this.garbage = new GarbageCollector(context, {
      settings: { ...limits.garbage, ...options.garbage },
      forgetNode,
    });
    this.upgrades = new Upgrades(context, own);
    this.#deployments = new DeploymentWatcher(context);
    this.peerings = new Peerings({
      ...context,
      datacenter: options.datacenter,
      transport: options.peers ?? unreachable,
      exchange: options.exchange ?? this.exchange,
    });
    this.heartbeats = new Heartbeats({
      timers: world.timers,
      random: world.random,
      nodeCount: () => state.read().table(nodes).size,
      onMissed: (nodeId) => void this.#noteMissed(nodeId),
    });
    this.#drainer = new Drainer(context);
    this.#launcher = new PeriodicLauncher(context);
    this.dispatcher = new EvaluationDispatcher(context, () =>
      state.peek((now) => configurationIn(now, options.scheduler)),
    );
    this.planner = new Planner({
      context,
      dispatcher: this.dispatcher,
      decisions: this.decisions,
      configuration: (snapshot, pool) => configurationInPool(snapshot, pool, options.scheduler),
    });
    this.plans = new Plans({
      context,
      dispatcher: this.dispatcher,
      decisions: this.decisions,
      datacenter: options.datacenter,
      configuration: (snapshot, evaluation) =>
        configurationFor(snapshot, evaluation, options.scheduler),
    });
    const { startDecider: start } = options;
    this.#worker = new EvaluationWorker(context, {
      dispatcher: this.dispatcher,
      decisions: this.decisions,
      configuration: (evaluation) =>
        state.peek((now) => configurationFor(now, evaluation, options.scheduler)),
      startDecider: start && (() => new FedDecider({ ...context, start })),
    });
  }

  get decisionFigures(): DecisionFigures {
    return this.#worker.figures;
  }

  /** Whether the state is seeded and the loops run. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Seeds the state and starts the loops, which take up the work that the state holds. */
  async start(): Promise<void> {
    await this.#seed();
    if (this.#isStopped) return;
    this.#isStarted = true;
    this.expectNodes();
    this.dispatcher.start();
    this.#worker.start();
    this.#deployments.start();
    this.#drainer.start();
    this.#launcher.start();
    this.exchange.start();
    this.#reaper.start();
    this.garbage.start();
    this.peerings.start();
    this.schedule?.start();
    this.upgrades.start();
  }

  stop(): void {
    this.#isStopped = true;
    this.#isStarted = false;
    this.upgrades.stop();
    this.schedule?.stop();
    this.peerings.stop();
    this.garbage.stop();
    this.#reaper.stop();
    this.exchange.stop();
    this.#launcher.stop();
    this.#drainer.stop();
    this.#deployments.stop();
    this.#worker.stop();
    this.dispatcher.stop();
    this.heartbeats.stop();
  }

  /** One transaction, so that the state of a first term has all of it, or nothing. */
  async #seed(): Promise<void> {
    const { keyring, servers } = this.#options;
    const { ids } = this.#context.world;
    const isFirst = !keyring.isComplete;
    // Of several servers, the first one that leads decides what the first token is.
    const rootSecret = servers === undefined || isFirst ? this.#options.rootSecret : undefined;
    const { value: signing } = await this.#context.state.write((transaction) => {
      const made = isFirst ? keyring.completeIn(transaction) : undefined;
      seedIdentity(transaction, ids);
      seedScopes(transaction);
      seedNodePools(transaction);
      seedScalingPolicies(transaction);
      seedAcl(transaction, this.#context, rootSecret);
      return made;
    });
    if (signing !== undefined) keyring.adoptSigning(signing);
  }

  /**
   * Gives known nodes time to find this leader, from the moment on in which they can. Nodes that are away
   * may still come back.
   */
  expectNodes(): void {
    if (!this.#isStarted || !this.#isHeard()) return;
    const { state, world } = this.#context;
    const snapshot = state.read();
    const nowMs = world.clock.nowMs();
    for (const node of snapshot.table(nodes).scan()) {
      if (isKnownAlive(node)) {
        this.heartbeats.expectAfterFailover(node.ID);
      } else if (node.Status === 'disconnected') {
        const withinMs = awaitedUntilMs(snapshot, node, nowMs) - nowMs;
        this.heartbeats.awaitReturn(node.ID, Math.max(withinMs, 0));
      }
    }
  }

  /** A node was not heard in time. It may come back later, and then has to register anew. */
  async #noteMissed(nodeId: string): Promise<void> {
    const { state, log } = this.#context;
    try {
      const missed = await noteMissed(this.#context, nodeId);
      if (missed === undefined) return;
      log.warn({ node: nodeId }, `a node missed its heartbeat and counts as ${missed.status}`);
      if (missed.status === 'disconnected' && !this.#isStopped) {
        this.heartbeats.awaitReturn(nodeId, missed.forMs);
      }
    } catch (error) {
      if (this.#isStopped) return;
      log.error({ node: nodeId, error }, 'a node that was not heard could not be marked so');
      if (state.closed === undefined) this.heartbeats.expectAgain(nodeId);
    }
  }
}

const unreachable: PeeringTransport = {
  dial: () => Promise.reject(new Error('this server has no way to other clusters')),
};
