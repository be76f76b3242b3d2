import { expect, test } from 'vitest';
import type { Timers } from '../../base/ports.ts';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { socketPair } from '../../model/node-stream/socket-pair.test-helper.ts';
import type { StreamSocket } from '../../model/node-stream/stream-connection.ts';
import { NodeStreams } from '../nodes/streams.ts';
import { ListedServers } from './membership.ts';
import { NetworkServers } from './network-servers.ts';
import type { HereServer } from './peer.ts';

/** A process that may sleep: until it wakes, its timers and all that is sent to it wait. */
class Process {
  #waiting: (() => void)[] | undefined;

  readonly run = (step: () => void): void => {
    if (this.#waiting === undefined) step();
    else this.#waiting.push(step);
  };

  sleep(): void {
    this.#waiting = [];
  }

  wake(): void {
    const steps = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const step of steps) step();
  }

  timers(timers: Timers): Timers {
    return {
      after: (delayMs, run) => timers.after(delayMs, () => this.run(run)),
      soon: (run) => timers.soon(() => this.run(run)),
      unhurried: (run) => timers.unhurried(() => this.run(run)),
    };
  }

  /** A socket whose messages wait while the process sleeps. */
  hears(socket: StreamSocket): StreamSocket {
    const onMessage = socket.onMessage.bind(socket);
    socket.onMessage = (receive) => onMessage((message) => this.run(() => receive(message)));
    return socket;
  }
}

/** A leader, and a server that follows it and is connected to it. */
async function pair() {
  const world = new SimulatedWorld(1);
  const following = new Process();
  const index = { leader: 5, follower: 5 };
  const membership = new ListedServers();
  const servers = (id: string, process = new Process()): NetworkServers =>
    new NetworkServers({
      id,
      version: '1',
      rootKey: new Uint8Array(32).fill(7),
      membership,
      transport: {
        dial: async () => {
          const [left, right] = socketPair();
          follower.accept({ socket: following.hears(right), binding: '' });
          return { socket: process.hears(left), binding: '' };
        },
      },
      world: { ...world, timers: process.timers(world.timers) },
      log: { debug() {}, info() {}, warn() {}, error() {} },
    });
  const here = (epoch: number | undefined, read: () => number) =>
    ({
      state: {
        leading: epoch === undefined ? undefined : { epoch },
        onLeadership: () => () => {},
        read: () => ({ index: read() }),
        candidate: undefined,
      },
      streams: new NodeStreams(),
      version: '1',
      tables: {},
      silentMs: () => 0,
      lags: () => [],
    }) as unknown as HereServer;
  // The server with the lesser id dials.
  const [leader, follower] = [servers('a'), servers('b', following)];
  follower.join(
    here(undefined, () => index.follower),
    'b:1',
  );
  leader.join(
    here(1, () => index.leader),
    'a:1',
  );
  await world.advance(3000);
  return { world, index, following, follower };
}

test('a server that hears of its leader has contact', async () => {
  const { world, follower } = await pair();
  expect(follower.leader()?.id).toBe('a');
  await world.advance(60_000);
  expect(follower.lastContactMs()).toBeLessThanOrEqual(500);
});

test('reports that waited while the server was asleep are no contact', async () => {
  const { world, index, following, follower } = await pair();
  following.sleep();
  // The leader goes on after its first reports, of which the last ones tell.
  await world.advance(2000);
  index.leader = 9;
  await world.advance(2000);
  following.wake();
  await new Promise((over) => setImmediate(over));
  expect(follower.lastContactMs()).toBeGreaterThanOrEqual(2000);
  index.follower = 9;
  await world.advance(1000);
  expect(follower.lastContactMs()).toBeLessThanOrEqual(500);
});
