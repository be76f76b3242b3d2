/** Servers of one cluster in this process, over one log, each with its own port. */
import { Agent as Connections, request } from 'undici';
import { expect } from 'vitest';
import type { NetworkSettings } from '../../src/agent-servers.ts';
import { realWorld } from '../../src/base/ports-real.ts';
import { type Agent, type CreateAgentOptions, createAgent } from '../../src/main.ts';
import type { Log } from '../../src/server/context.ts';
import { ListedServers } from '../../src/server/network/membership.ts';
import { SharedLog, SharedMemoryEngine } from '../../src/state/engine/shared-memory.ts';
import { rootToken } from './api.ts';
import { type Relay, startRelay } from './relay.ts';

export const clusterKey = new Uint8Array(32).fill(7);

/** A busy machine must not end the term of a leader. */
const [beatMs, leaseMs] = [50, 1500];

export interface ClusterServer {
  readonly id: string;
  readonly agent: Agent;
  readonly engine: SharedMemoryEngine;
  /** Its errors and warnings. */
  readonly logged: readonly string[];
  /** Between it and the servers that dial it. */
  readonly relay: Relay;
}

export interface NetworkChanges extends Partial<NetworkSettings> {
  /** Puts something else between the server and those that dial it. Resolves with its address. */
  readonly between?: (address: string) => Promise<string>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly json: any;
}

/** Servers that reach each other through relays, which can be cut. */
class RelayedServers extends ListedServers {
  readonly relays = new Map<string, string>();

  override members() {
    return super
      .members()
      .map((member) => ({ ...member, address: this.relays.get(member.id) ?? '' }));
  }
}

export class ServerCluster {
  readonly log = new SharedLog({ clock: realWorld.clock, leaseMs });
  readonly servers: ClusterServer[] = [];
  readonly #membership = new RelayedServers();
  #count = 0;

  async start(
    options: Partial<CreateAgentOptions> = {},
    { between, ...network }: NetworkChanges = {},
  ): Promise<ClusterServer> {
    const id = `server-${++this.#count}`;
    const { timers, random } = realWorld;
    const engine = new SharedMemoryEngine({ log: this.log, timers, random, beatMs });
    const logged: string[] = [];
    const agent = await createAgent({
      engine,
      rootKey: clusterKey,
      rootToken,
      http: { host: '127.0.0.1', port: 0 },
      servers: { membership: this.#membership, id, ...network },
      log: logOf(logged),
      ...options,
    });
    const relay = await startRelay(agent.address);
    const relayed = new URL(relay.address).host;
    this.#membership.relays.set(id, between === undefined ? relayed : await between(relayed));
    // The others dial it only now.
    this.#membership.announce({ id, address: new URL(agent.address).host, version: '0.0.0' });
    const server = { id, agent, engine, logged, relay };
    this.servers.push(server);
    return server;
  }

  /** The process ends without a word. */
  async kill(server: ClusterServer): Promise<void> {
    this.servers.splice(this.servers.indexOf(server), 1);
    server.engine.crash();
    await server.relay.cut();
    await server.agent.close('stop');
  }

  async close(): Promise<void> {
    // The leader comes last: it would wait for another one.
    const { leader, followers } = this;
    for (const server of [...followers, ...(leader ? [leader] : [])]) await this.kill(server);
  }

  get leader(): ClusterServer | undefined {
    return this.servers.find(({ agent }) => agent.state.leading?.epoch === this.log.epoch);
  }

  get followers(): readonly ClusterServer[] {
    return this.servers.filter((server) => server !== this.leader);
  }

  /** Resolves with the leader once every server knows it. */
  async settled(): Promise<ClusterServer> {
    await expect
      .poll(async () => {
        const address = this.leader && new URL(this.leader.agent.address).host;
        const told = await Promise.all(
          this.servers.map(async (server) => (await call(server, 'GET', '/v1/status/leader')).json),
        );
        const healths = await Promise.all(
          this.servers.map(async (one) => (await call(one, 'GET', '/v1/agent/health')).status),
        );
        const areKnown = told.every((one) => one === address);
        return address !== undefined && areKnown && healths.every((status) => status === 200);
      })
      .toBe(true);
    return this.leader!;
  }
}

const anyCertificate = new Connections({ connect: { rejectUnauthorized: false } });

/** A request to the port of a server. */
export async function call(
  { agent, token = rootToken }: Pick<ClusterServer, 'agent'> & { readonly token?: string },
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const {
    statusCode,
    headers: told,
    body: answer,
  } = await request(`${agent.address}${path}`, {
    method: method as 'GET',
    headers: { 'x-registry-token': token },
    dispatcher: anyCertificate,
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = /json/.test(String(told['content-type'])) && text !== '';
  return {
    status: statusCode,
    headers: told as Answer['headers'],
    json: isJson && JSON.parse(text),
  };
}

function logOf(logged: string[]): Log {
  const note = (fields: object, sentence: string) =>
    void logged.push(`${sentence} ${JSON.stringify(fields)}`);
  return { debug() {}, info() {}, warn: note, error: note };
}
