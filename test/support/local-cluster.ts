/** Agents of one process over one log in memory, on simulated time. */
import type { Request } from '../../src/api/http.ts';
import { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { type Agent, type CreateAgentOptions, createAgent } from '../../src/main.ts';
import { LocalServers } from '../../src/server/servers-local.ts';
import { SharedLog, SharedMemoryEngine } from '../../src/state/engine/shared-memory.ts';
import { parseAnswer, requestOf } from './agent-requests.ts';
import { rootToken } from './api.ts';

const rootKey = new Uint8Array(32).fill(7);
const [beatMs, leaseMs] = [100, 400];
/** Long enough for a lease to end and somebody to lead. */
export const settleMs = 5000;

export interface LocalAgent {
  readonly agent: Agent;
  readonly engine: SharedMemoryEngine;
}

export class LocalCluster {
  readonly world = new SimulatedWorld(1);
  readonly log = new SharedLog({ clock: this.world.clock, leaseMs });
  readonly #local = new LocalServers(this.world);
  readonly servers: LocalAgent[] = [];

  async start(options: Partial<CreateAgentOptions> = {}): Promise<LocalAgent> {
    const { world, log } = this;
    const engine = new SharedMemoryEngine({
      log,
      timers: world.timers,
      random: world.random,
      beatMs,
    });
    const agent = await createAgent({
      world,
      engine,
      rootKey,
      rootToken,
      servers: this.#local,
      ...options,
    });
    const server = { agent, engine };
    this.servers.push(server);
    await world.advance(settleMs);
    return server;
  }

  /** The process ends without a word. */
  async kill(server: LocalAgent): Promise<void> {
    this.servers.splice(this.servers.indexOf(server), 1);
    server.engine.crash();
    await this.during(server.agent.close('stop'));
    await this.world.advance(settleMs);
  }

  async close(): Promise<void> {
    for (const server of [...this.servers]) await this.kill(server);
  }

  get leader(): LocalAgent {
    return this.servers.find(({ agent }) => agent.state.leading?.epoch === this.log.epoch)!;
  }

  get followers(): readonly LocalAgent[] {
    return this.servers.filter((server) => server !== this.leader);
  }

  async call({ agent }: LocalAgent, method: string, url: string, body?: object) {
    return this.send(agent, requestOf(method, url, rootToken, body));
  }

  async send(agent: Agent, request: Request) {
    return parseAnswer(await this.during(agent.handle(request)));
  }

  /** The process of the leader ends. Returns the server that leads after it. */
  async loseLeader(): Promise<LocalAgent> {
    await this.kill(this.leader);
    return this.leader;
  }

  /** Time goes on until the promise has settled. */
  async during<T>(promise: Promise<T>): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    promise.then(over, over);
    while (!isOver) await this.world.advance(beatMs);
    return promise;
  }
}

export async function startAgents(
  count: number,
  options: Partial<CreateAgentOptions> = {},
): Promise<LocalCluster> {
  const cluster = new LocalCluster();
  for (let started = 0; started < count; started++) await cluster.start(options);
  return cluster;
}
