/**
 * Three servers of one cluster on simulated time, of which the first follower is under test. A request to
 * it crosses the connections between servers, as over a real network, but in no time.
 */
import type { Api, ApiOptions } from '../../src/api/api.ts';
import type { Timers, World } from '../../src/base/ports.ts';
import type { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { refusal } from '../../src/model/errors.ts';
import { socketPair } from '../../src/model/node-stream/socket-pair.test-helper.ts';
import { lagsOf } from '../../src/server/attention/cluster.ts';
import { type Log, silentLog } from '../../src/server/context.ts';
import { ownHealth } from '../../src/server/health.ts';
import { Keyring } from '../../src/server/keyring/keyring.ts';
import { networkLimits } from '../../src/server/network/limits.ts';
import { ListedServers } from '../../src/server/network/membership.ts';
import { NetworkServers } from '../../src/server/network/network-servers.ts';
import type { HereServer } from '../../src/server/network/peer.ts';
import { ownIntroduction } from '../../src/server/nodes/introductions.ts';
import type { Server } from '../../src/server/server.ts';
import type { ServerOptions } from '../../src/server/server-options.ts';
import { MemoryDisk } from '../../src/state/engine/memory.ts';
import { SharedLog, SharedMemoryEngine } from '../../src/state/engine/shared-memory.ts';
import { noLinger } from '../../src/state/state.test-helper.ts';
import { openState } from '../../src/state/state.ts';
import { allTables } from '../../src/state/tables.ts';
import type { State } from '../../src/state/types.ts';

/** Set by `ROSTER_TEST_FOLLOWER=1`: the API under test is that of a follower. */
export const testsFollower = process.env.ROSTER_TEST_FOLLOWER === '1';

/** The parts of a server that a test chooses. */
export type Assemble = (
  state: State,
  keyring: Keyring,
  thread?: Pick<ServerOptions, 'servers' | 'readers'> &
    Pick<ApiOptions, 'isReader' | 'metricsOfReaders'>,
) => { readonly server: Server; readonly api: Api };

export interface ClusterOfThree {
  /** Of the leader, whose memory tests look into. */
  readonly server: Server;
  /** Of a follower. */
  readonly api: Api;
  /** Reads of the follower, and writes of the leader that the follower shows when they resolve. */
  readonly state: State;
}

const count = 3;
const beatMs = 1;

/** The log of the servers that were started on a disk. It outlives them, and has the faults of the disk. */
const logs = new WeakMap<MemoryDisk, SharedLog>();

function logOn(disk: MemoryDisk, { clock }: World): SharedLog {
  const known = logs.get(disk);
  // The servers before have ended without a word.
  known?.depose();
  const log = known ?? new SharedLog({ clock, leaseMs: Number.POSITIVE_INFINITY });
  if (known === undefined) {
    Object.defineProperties(log.faults, {
      appendDelayMs: { get: () => disk.faults.appendDelayMs },
      failAppend: { get: () => disk.faults.failAppend },
    });
  }
  logs.set(disk, log);
  return log;
}

export async function startThree(
  world: SimulatedWorld,
  rootKey: Uint8Array,
  assemble: Assemble,
  { log = silentLog, disk = new MemoryDisk() }: { log?: Log; disk?: MemoryDisk } = {},
): Promise<ClusterOfThree> {
  const shared = logOn(disk, world);
  const beats: (() => void)[] = [];
  const timers = instant(world.timers, (run) => beats.push(run));
  const membership = new ListedServers();
  const networks = new Map<string, NetworkServers>();
  const started = [];
  for (let ordinal = 0; ordinal < count; ordinal++) {
    const id = `server-${ordinal}`;
    const network = networkOf({ id, world, rootKey, membership, networks, log });
    networks.set(id, network);
    const engine = new SharedMemoryEngine({ log: shared, timers, random: world.random, beatMs });
    const opened = { tables: allTables, engine, ...world, freeze: true, limits: noLinger };
    const state = await openState(opened);
    const { server, api } = assemble(state, Keyring.follow(state, rootKey, world), {
      servers: network,
    });
    await server.start();
    started.push({ server, api, state, network, id });
  }
  // Only the first one ever tries to lead, since no other beat comes.
  beats[0]!();
  const [leader, follower] = started;
  for (const { server, api, state, network, id } of started) {
    const { streams } = server;
    const introduceNode = ownIntroduction(server.context);
    const health = () => ownHealth(server);
    const { version, tables } = server;
    const lags = () => lagsOf(server);
    const silentMs = () => server.silentMs;
    const told = { introduceNode, health, version, tables, lags, silentMs };
    network.join({ state, streams, answer: answerOf(api), ...told }, `${id}:1`);
  }
  while (!leader!.server.leads || follower!.network.leader() === undefined) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  // No other server ever leads.
  leader!.server.handOver.run = () => Promise.reject(refusal('no-other-server'));
  await follower!.server.exact();
  const state = shownBy(follower!.state, leader!.state);
  return { server: leader!.server, api: follower!.api, state };
}

/** Reads of the follower, and writes of the leader that the follower shows when they resolve. */
export function shownBy(follower: State, leader: State): State {
  const write: State['write'] = async (run) => {
    const written = await leader.write(run);
    await follower.exact();
    return written;
  };
  return new Proxy(follower, {
    get: (target, name) => {
      if (name === 'write') return write;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

export const answerOf =
  (api: Api): HereServer['answer'] =>
  async (question, gone) =>
    api.answer({
      ...question,
      onGone: (run) => {
        if (gone.aborted) run();
        gone.addEventListener('abort', run, { once: true });
        return () => gone.removeEventListener('abort', run);
      },
    });

/** Hints arrive at once, and beats when a test says so. The delays of a slow disk are longer. */
const instant = (timers: Timers, beat: (run: () => void) => void): Timers => ({
  ...timers,
  after: (delayMs, run) => {
    if (delayMs > 2 * beatMs) return timers.after(delayMs, run);
    if (delayMs === 0) queueMicrotask(run);
    else beat(run);
    return { clear: () => {} };
  },
});

function networkOf(given: {
  readonly id: string;
  readonly world: World;
  readonly rootKey: Uint8Array;
  readonly membership: ListedServers;
  readonly networks: ReadonlyMap<string, NetworkServers>;
  readonly log: Log;
}): NetworkServers {
  const { world, networks, ...rest } = given;
  const { processor, timers, random, ids, secrets } = world;
  // Connections stay, so reports without news are left out: a test may let months pass.
  const quiet: Timers = {
    ...timers,
    after: (delayMs, run) =>
      delayMs === networkLimits.beatMs ? { clear: () => {} } : timers.after(delayMs, run),
  };
  const clock = { nowMs: world.clock.nowMs, monotonicMs: () => 0 };
  return new NetworkServers({
    ...rest,
    version: '0.0.0',
    world: { processor, timers: quiet, random, ids, secrets, clock },
    transport: {
      dial: async (address) => {
        const [left, right] = socketPair();
        networks.get(address.split(':')[0]!)!.accept({ socket: right, binding: '' });
        return { socket: left, binding: '' };
      },
    },
  });
}
