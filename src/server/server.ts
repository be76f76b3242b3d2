import { refusal } from '../model/errors.ts';
import type { SchedulerConfiguration } from '../scheduler/view.ts';
import { nodes } from '../state/tables.ts';
import { type BootstrapReset, noReset } from './acl/bootstrap.ts';
import { TokenReaper } from './acl/reaper.ts';
import { seedAcl, seedRealms } from './acl/seed.ts';
import type { ServerContext } from './context.ts';
import { EvaluationDispatcher } from './evaluations/dispatcher.ts';
import { EvaluationWorker } from './evaluations/worker.ts';
import type { Keyring } from './keyring/keyring.ts';
import { LoginService } from './login/login.ts';
import type { Outbound } from './login/outbound.ts';
import { evaluateJobsOnNode } from './nodes/evaluate.ts';
import { Heartbeats } from './nodes/heartbeats.ts';
import { setNodeStatus } from './nodes/register.ts';
import { NodeStreams } from './nodes/streams.ts';

export interface ServerOptions extends Omit<ServerContext, 'box' | 'openEvaluations'> {
  readonly keyring: Keyring;
  /** The way to identity providers. */
  readonly outbound: Outbound;
  /** Where this server stands. */
  readonly datacenter: string;
  /** The secret of the first management token, when the operator or `--dev` gives one. */
  readonly rootSecret: string | undefined;
  readonly scheduler: SchedulerConfiguration;
  /** How an operator of the machine allows another first token; the default: not at all. */
  readonly bootstrapReset?: BootstrapReset;
}

/** The loops that drive the state to what was asked for. One leader runs them. */
export class Server {
  readonly context: ServerContext;
  readonly heartbeats: Heartbeats;
  readonly streams = new NodeStreams();
  readonly dispatcher: EvaluationDispatcher;
  readonly bootstrapReset: BootstrapReset;
  readonly logins: LoginService;
  readonly keyring: Keyring;
  readonly #worker: EvaluationWorker;
  readonly #reaper: TokenReaper;
  readonly #options: ServerOptions;
  #stopped = false;

  constructor(options: ServerOptions) {
    const { state, world, log, region, keyring } = options;
    this.#options = options;
    const openEvaluations = () => this.dispatcher.size;
    this.bootstrapReset = options.bootstrapReset ?? noReset;
    this.context = { state, world, log, region, box: keyring, openEvaluations };
    this.keyring = keyring;
    this.#reaper = new TokenReaper(this.context);
    const { outbound, datacenter } = options;
    this.logins = new LoginService({ context: this.context, outbound, datacenter });
    this.heartbeats = new Heartbeats({
      timers: world.timers,
      random: world.random,
      nodeCount: () => state.read().table(nodes).size,
      onMissed: (nodeId) => void this.#markDown(nodeId),
    });
    const configuration = () => options.scheduler;
    this.dispatcher = new EvaluationDispatcher(this.context, configuration);
    this.#worker = new EvaluationWorker(this.context, this.dispatcher, configuration);
  }

  /** Makes sure of what every cluster has, and takes up what the state holds. */
  async start(): Promise<void> {
    const { state } = this.context;
    await this.#seed();
    for (const node of state.read().table(nodes).scan()) {
      if (node.Status === 'ready') this.heartbeats.expectAfterFailover(node.ID);
    }
    this.dispatcher.start();
    this.#worker.start();
    this.#reaper.start();
  }

  stop(): void {
    this.#reaper.stop();
    this.#stopped = true;
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
    await this.context.state.write((transaction) => {
      seedRealms(transaction);
      seedAcl(transaction, this.context, rootSecret);
    });
  }

  /** A node was not heard in time: its allocations are lost, and have to go elsewhere. */
  async #markDown(nodeId: string): Promise<void> {
    const { state, world, log } = this.context;
    try {
      await state.write((transaction) => {
        const nowMs = world.clock.nowMs();
        const message = 'Node heartbeat missed';
        if (!setNodeStatus(transaction, nowMs, nodeId, 'down', message)) return;
        evaluateJobsOnNode(transaction, world, nodeId);
      });
      log.warn({ node: nodeId }, 'a node missed its heartbeat and counts as down');
    } catch (error) {
      log.error({ node: nodeId, error }, 'a node that is down could not be marked so');
      if (!this.#stopped && state.closed === undefined) this.heartbeats.expectAgain(nodeId);
    }
  }
}
