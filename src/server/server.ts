import { refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { isKnownAlive } from '../model/node/node.ts';
import type { SchedulerConfiguration } from '../scheduler/view.ts';
import { nodes } from '../state/tables.ts';
import { type BootstrapReset, noReset } from './acl/bootstrap.ts';
import { TokenReaper } from './acl/reaper.ts';
import { seedAcl, seedScopes } from './acl/seed.ts';
import type { ServerContext } from './context.ts';
import { DeploymentWatcher } from './deployments/watcher.ts';
import { EventLog } from './events/event-log.ts';
import { GarbageCollector, type GarbageSettings } from './garbage/collector.ts';
import { Planner } from './jobs/plan/planner.ts';
import { seedScalingPolicies } from './jobs/scaling-policies.ts';
import type { Keyring } from './keyring/keyring.ts';
import { LoginService } from './login/login.ts';
import type { Outbound } from './login/outbound.ts';
import { seedNodePools } from './node-pools/pools.ts';
import { Drainer } from './nodes/drainer.ts';
import { Heartbeats } from './nodes/heartbeats.ts';
import { awaitedUntilMs, noteMissed } from './nodes/missed.ts';
import { NodeStreams } from './nodes/streams.ts';
import { seedIdentity } from './peering/context.ts';
import { ServiceExchange } from './peering/exchange/service-exchange.ts';
import type { Exchange } from './peering/exchange.ts';
import type { PeeringTransport } from './peering/link.ts';
import { Peerings } from './peering/peerings.ts';
import { PeriodicLauncher } from './periodic/launcher.ts';
import {
  configurationFor,
  configurationIn,
  configurationInPool,
} from './scheduler-configuration/read.ts';
import { Decisions } from './scheduling/evaluations/decisions.ts';
import { EvaluationDispatcher } from './scheduling/evaluations/dispatcher.ts';
import { EvaluationWorker } from './scheduling/evaluations/worker.ts';

export interface ServerOptions extends Omit<ServerContext, 'box' | 'openEvaluations'> {
  readonly keyring: Keyring;
  /** The way to identity providers. */
  readonly outbound: Outbound;
  /** Where this server stands. */
  readonly datacenter: string;
  /** The address under which others find the keys of this cluster; `undefined`: it has none. */
  readonly issuer?: string | undefined;
  /** The secret of the first management token, when the operator or `--dev` gives one. */
  readonly rootSecret: string | undefined;
  readonly scheduler: SchedulerConfiguration;
  /** How long is kept what nobody needs; the default is that of `limits.garbage`. */
  readonly garbage?: Partial<GarbageSettings>;
  /** The way to other clusters; `undefined`: there is none. */
  readonly peers?: PeeringTransport;
  /** What goes over the streams of peerings; the default is the exchange of services. */
  readonly exchange?: Exchange;
  /** How an operator of the machine allows another first token; the default: not at all. */
  readonly bootstrapReset?: BootstrapReset;
}

/** The loops that drive the state to what was asked for. One leader runs them. */
export class Server {
  readonly context: ServerContext;
  readonly heartbeats: Heartbeats;
  readonly streams = new NodeStreams();
  readonly dispatcher: EvaluationDispatcher;
  readonly decisions = new Decisions();
  readonly events: EventLog;
  readonly planner: Planner;
  readonly bootstrapReset: BootstrapReset;
  readonly logins: LoginService;
  /** Of services with peers. */
  readonly exchange: ServiceExchange;
  readonly keyring: Keyring;
  readonly issuer: string | undefined;
  /** Where this server stands. */
  readonly datacenter: string;
  readonly #worker: EvaluationWorker;
  readonly #deployments: DeploymentWatcher;
  readonly #drainer: Drainer;
  readonly #launcher: PeriodicLauncher;
  readonly #reaper: TokenReaper;
  readonly garbage: GarbageCollector;
  readonly peerings: Peerings;
  readonly #options: ServerOptions;
  #stopped = false;

  constructor(options: ServerOptions) {
    const { state, world, log, region, keyring } = options;
    this.#options = options;
    const openEvaluations = () => this.dispatcher.size;
    this.bootstrapReset = options.bootstrapReset ?? noReset;
    this.context = { state, world, log, region, box: keyring, openEvaluations };
    this.keyring = keyring;
    this.events = new EventLog(state);
    this.issuer = options.issuer;
    this.datacenter = options.datacenter;
    this.#reaper = new TokenReaper(this.context);
    this.exchange = new ServiceExchange(this.context);
    this.garbage = new GarbageCollector(this.context, {
      settings: { ...limits.garbage, ...options.garbage },
      forgetNode: (nodeId) => this.forgetNode(nodeId),
    });
    this.#deployments = new DeploymentWatcher(this.context);
    const { outbound, datacenter } = options;
    this.logins = new LoginService({ context: this.context, outbound, datacenter });
    this.peerings = new Peerings({
      ...this.context,
      datacenter,
      transport: options.peers ?? unreachable,
      exchange: options.exchange ?? this.exchange,
    });
    this.heartbeats = new Heartbeats({
      timers: world.timers,
      random: world.random,
      nodeCount: () => state.read().table(nodes).size,
      onMissed: (nodeId) => void this.#noteMissed(nodeId),
    });
    this.#drainer = new Drainer(this.context);
    this.#launcher = new PeriodicLauncher(this.context);
    this.dispatcher = new EvaluationDispatcher(this.context, () =>
      configurationIn(state.head(), options.scheduler),
    );
    this.planner = new Planner({
      context: this.context,
      dispatcher: this.dispatcher,
      decisions: this.decisions,
      configuration: (snapshot, pool) => configurationInPool(snapshot, pool, options.scheduler),
    });
    this.#worker = new EvaluationWorker(
      this.context,
      this.dispatcher,
      (evaluation) => configurationFor(state.head(), evaluation, options.scheduler),
      this.decisions,
    );
  }

  /** Makes sure of what every cluster has, and takes up what the state holds. */
  async start(): Promise<void> {
    await this.#seed();
    this.#expectNodes();
    this.dispatcher.start();
    this.#worker.start();
    this.#deployments.start();
    this.#drainer.start();
    this.#launcher.start();
    this.exchange.start();
    this.#reaper.start();
    this.garbage.start();
    this.peerings.start();
  }

  stop(): void {
    this.peerings.stop();
    this.events.stop();
    this.garbage.stop();
    this.#reaper.stop();
    this.#stopped = true;
    this.exchange.stop();
    this.#launcher.stop();
    this.#drainer.stop();
    this.#deployments.stop();
    this.#worker.stop();
    this.dispatcher.stop();
    this.heartbeats.stop();
    this.streams.closeAll();
  }

  /**
   * Shows that this server leads, for `consistent` reads. With the embedded store it is the only
   * one, and leads as long as it can write. @throws RosterError `no-leader`
   */
  async proveLeadership(): Promise<void> {
    if (this.context.state.closed !== undefined) throw refusal('no-leader');
  }

  async #seed(): Promise<void> {
    const { rootSecret } = this.#options;
    const { ids } = this.context.world;
    await this.context.state.write((transaction) => {
      seedIdentity(transaction, ids);
      seedScopes(transaction);
      seedNodePools(transaction);
      seedScalingPolicies(transaction);
      seedAcl(transaction, this.context, rootSecret);
    });
  }

  /** What holds where operators have set nothing. */
  get schedulerDefaults(): SchedulerConfiguration {
    return this.#options.scheduler;
  }

  /** A node that was purged is no more waited for, and has nothing to say here. */
  forgetNode(nodeId: string): void {
    this.heartbeats.forget(nodeId);
    this.streams.drop(nodeId, 'the node was purged');
  }

  /** Nodes that are there have to find this leader; those that are away may still come back. */
  #expectNodes(): void {
    const { state, world } = this.context;
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
    const { state, log } = this.context;
    try {
      const missed = await noteMissed(this.context, nodeId);
      if (missed === undefined) return;
      log.warn({ node: nodeId }, `a node missed its heartbeat and counts as ${missed.status}`);
      if (missed.status === 'disconnected' && !this.#stopped) {
        this.heartbeats.awaitReturn(nodeId, missed.forMs);
      }
    } catch (error) {
      log.error({ node: nodeId, error }, 'a node that was not heard could not be marked so');
      if (!this.#stopped && state.closed === undefined) this.heartbeats.expectAgain(nodeId);
    }
  }
}

const unreachable: PeeringTransport = {
  dial: () => Promise.reject(new Error('this server has no way to other clusters')),
};
