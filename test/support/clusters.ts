import { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import type { Exchange } from '../../src/server/peering/exchange.ts';
import { MemoryDisk } from '../../src/state/engine/memory.ts';
import { peerings } from '../../src/state/tables.ts';
import { startApi, type TestApi } from './api.ts';
import { PeerNetwork } from './peer-network.ts';

/** One of several clusters. It can crash and restart. */
export interface Cluster {
  readonly name: string;
  readonly address: string;
  api: TestApi;
  /** Without a word to anybody: the links are lost, and all that was not durable. */
  crash(): Promise<void>;
  restart(): Promise<void>;
  /** The peering as the API shows it. */
  // biome-ignore lint/suspicious/noExplicitAny: as in `Called`.
  peering(name: string): Promise<any>;
  state(name: string): Promise<string>;
  token(peer: string, body?: object): Promise<string>;
  establish(peer: string, token: string, body?: object): ReturnType<TestApi['call']>;
}

interface Given {
  readonly seed?: number;
  readonly exchange?: (cluster: string) => Exchange;
  readonly log?: (cluster: string, level: string, line: string) => void;
}

/** Clusters in one simulated world that can reach each other by name. */
export async function startClusters<N extends string>(
  names: readonly N[],
  { seed = 1, exchange, log }: Given = {},
) {
  const world = new SimulatedWorld(seed);
  const network = new PeerNetwork(world);
  const start = async (name: string): Promise<Cluster> => {
    const address = `${name}.example:4720`;
    const disk = new MemoryDisk();
    const note = (level: string) => (fields: object, sentence: string) =>
      log?.(name, level, `${sentence} ${JSON.stringify(fields)}`);
    const up = async () => {
      const api = await startApi({
        world,
        disk,
        peers: network.transport(address),
        datacenter: `dc-${name}`,
        ...(exchange && { exchange: exchange(name) }),
        log: { debug() {}, info: note('info'), warn: note('warn'), error: note('error') },
      });
      api.server.peerings.advertise({ addresses: [address], caPems: [] });
      network.listen(address, (link) => void api.server.peerings.accept(link));
      return api;
    };
    const cluster: Cluster = {
      name,
      address,
      api: await up(),
      async crash() {
        network.leave(address);
        cluster.api.server.stop();
        await cluster.api.state.close();
      },
      async restart() {
        cluster.api = await up();
      },
      ...callsOf((...words) => cluster.api.call(...words)),
    };
    return cluster;
  };
  const started = await Promise.all(names.map(async (name) => [name, await start(name)] as const));
  const clusters = Object.fromEntries(started) as Record<N, Cluster>;

  /** Lets `durationMs` pass and returns the result of `asked`. */
  async function during<T>(asked: Promise<T>, durationMs = 100): Promise<T> {
    await world.advance(durationMs);
    return asked;
  }

  /** `acceptor` makes a token and `dialer` uses it. Each names the peering after the other. */
  async function peer(dialer: Cluster, acceptor: Cluster): Promise<void> {
    const token = await acceptor.token(dialer.name);
    const { status, text } = await during(dialer.establish(acceptor.name, token));
    if (status !== 200) throw new Error(text);
  }

  return { world, network, clusters, during, peer };
}

type Calls = Pick<Cluster, 'peering' | 'state' | 'token' | 'establish'>;

function callsOf(call: TestApi['call']): Calls {
  const calls: Calls = {
    async peering(peer) {
      const { status, json } = await call('GET', `/v1/peering/${peer}`);
      return status === 200 ? json : undefined;
    },
    async state(peer) {
      return (await calls.peering(peer))?.State ?? 'none';
    },
    async token(peer, body = {}) {
      const given = { PeerName: peer, ...body };
      const { json } = await call('POST', '/v1/peering/token', { body: given });
      return json.PeeringToken;
    },
    establish(peer, token, body = {}) {
      const given = { PeerName: peer, PeeringToken: token, ...body };
      return call('POST', '/v1/peering/establish', { body: given });
    },
  };
  return calls;
}

/** The stored peerings. */
export const storedPeerings = ({ api }: Cluster) => [...api.state.read().table(peerings).scan()];

/** The state of the peering between two clusters as each of them sees it. */
export const peeringStates = async (one: Cluster, other: Cluster) => [
  await one.state(other.name),
  await other.state(one.name),
];
