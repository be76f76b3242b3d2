import { instantFromMs } from '../base/instant.ts';
import {
  anonymousAccessorId,
  managementPolicyId,
  managementPolicyName,
} from '../model/acl-token/acl-token.ts';
import { refusal } from '../model/errors.ts';
import { defaultNamespace, defaultPartition } from '../model/namespace/namespace.ts';
import type { SchedulerConfiguration } from '../scheduler/view.ts';
import { aclTokens, inNamespace, namespaces, nodes } from '../state/tables.ts';
import type { ServerContext } from './context.ts';
import { EvaluationDispatcher } from './evaluations/dispatcher.ts';
import { EvaluationWorker } from './evaluations/worker.ts';
import { evaluateJobsOnNode } from './nodes/evaluate.ts';
import { Heartbeats } from './nodes/heartbeats.ts';
import { setNodeStatus } from './nodes/register.ts';
import { NodeStreams } from './nodes/streams.ts';

export interface ServerOptions extends Omit<ServerContext, 'openEvaluations'> {
  /** The secret of the first management token, when the operator or `--dev` gives one. */
  readonly rootSecret: string | undefined;
  readonly scheduler: SchedulerConfiguration;
}

/** The loops that drive the state to what was asked for. One leader runs them. */
export class Server {
  readonly context: ServerContext;
  readonly heartbeats: Heartbeats;
  readonly streams = new NodeStreams();
  readonly dispatcher: EvaluationDispatcher;
  readonly #worker: EvaluationWorker;
  readonly #options: ServerOptions;
  #stopped = false;

  constructor(options: ServerOptions) {
    const { state, world, log, region } = options;
    this.#options = options;
    const openEvaluations = () => this.dispatcher.size;
    this.context = { state, world, log, region, openEvaluations };
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
  }

  stop(): void {
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
    const { state, world } = this.context;
    const { rootSecret } = this.#options;
    const rootHash = rootSecret === undefined ? undefined : world.secrets.hash(rootSecret);
    const now = instantFromMs(world.clock.nowMs());
    await state.write((transaction) => {
      if (!transaction.table(namespaces).has(...inNamespace(defaultNamespace))) {
        const Description = 'Default shared namespace';
        const rest = { Description, Meta: null, Capabilities: null };
        transaction.table(namespaces).put({ Name: defaultNamespace, ...rest });
      }
      const tokens = transaction.table(aclTokens);
      const common = { Local: false, CreateTime: now };
      if (!tokens.has(defaultPartition, anonymousAccessorId)) {
        tokens.put({
          ...common,
          AccessorID: anonymousAccessorId,
          SecretHash: world.secrets.hash('anonymous'),
          Description: 'Anonymous Token',
          Policies: [],
        });
      }
      if (rootHash === undefined) return;
      for (const _ of tokens.by('secret').scan({ prefix: [rootHash] })) return;
      tokens.put({
        ...common,
        AccessorID: world.ids.uuid(),
        SecretHash: rootHash,
        Description: 'Initial Management Token',
        Policies: [{ ID: managementPolicyId, Name: managementPolicyName }],
      });
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
