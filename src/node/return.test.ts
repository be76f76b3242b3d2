/** A fleet whose servers were away comes back in an order that overloads nobody. */
import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { complete } from '../model/complete.ts';
import { limits } from '../model/limits.ts';
import { NodeRegistrationSchema } from '../model/node/node.ts';
import type { StreamSocket } from '../model/node-stream/stream-connection.ts';
import { identityIn } from './identity.ts';
import { Registration } from './registration.ts';
import type { ServerApi } from './server-api.ts';
import { ServerContact } from './server-contact.ts';
import { answerServers, followAssignments } from './server-loops.ts';

const nodes = 300;
const { reconnectMinMs, reconnectMaxMs, reconnectsPerTtl } = limits.stream;

/** Servers that hear of the fleet: when each stream was asked for, and which are open. */
class Servers {
  readonly world = new SimulatedWorld(7);
  /** The error of each call; `undefined`: they answer. */
  fault: Error | undefined;
  streamsAskedMs: number[] = [];
  readonly #losers = new Set<() => void>();
  openStreams = 0;
  parked = 0;

  constructor(ttlMs: number) {
    const { world } = this;
    const { signal } = new AbortController();
    const onNotice = () => {};
    for (let number = 0; number < nodes; number++) {
      const api = this.#api(ttlMs);
      const contact = new ServerContact({ ...world, dataDirectory: '/nowhere', onNotice });
      const registration = new Registration({
        world,
        api,
        contact,
        identities: identityIn('/nowhere', world),
        introduction: undefined,
        signal,
        onRegistered: () => {},
        onNotice,
      });
      registration.describe(complete(NodeRegistrationSchema, { ID: `${number}`, Name: 'node' }));
      const context = { world, api, contact, registration, signal, onNotice };
      void followAssignments(context, () => {});
      void answerServers(context, new Map());
    }
  }

  /** Cuts all connections. */
  lose(): void {
    this.streamsAskedMs = [];
    for (const lose of [...this.#losers]) lose();
  }

  #api(ttlMs: number): ServerApi {
    const unused = () => expect.fail('nobody asks for this');
    const answer = <T>(value: T): T => {
      if (this.fault !== undefined) throw this.fault;
      return value;
    };
    const untilLost = (lost: () => void) => {
      const lose = () => {
        this.#losers.delete(lose);
        lost();
      };
      this.#losers.add(lose);
    };
    return {
      register: async () => answer({ HeartbeatTTL: ttlMs * 1e6, Index: 1 }),
      heartbeat: unused,
      assignments: async (_id, { index }) => {
        if (index === 0) return answer({ index: 1, assignments: [] });
        this.parked++;
        return new Promise((_, reject) => {
          untilLost(() => {
            this.parked--;
            reject(new Error('cut'));
          });
        });
      },
      reportStatus: unused,
      reportServices: unused,
      identities: unused,
      traces: unused,
      snapshot: unused,
      openStream: async () => {
        this.streamsAskedMs.push(this.world.clock.monotonicMs());
        answer(undefined);
        this.openStreams++;
        return socketUntil((closed) =>
          untilLost(() => {
            this.openStreams--;
            closed('cut');
          }),
        );
      },
    };
  }
}

const socketUntil = (onClose: StreamSocket['onClose']): StreamSocket => {
  let pong = () => {};
  return {
    sendText: () => {},
    sendBinary: () => {},
    onMessage: () => {},
    onClose,
    close: () => {},
    terminate: () => {},
    ping: () => pong(),
    onPong: (run) => {
      pong = run;
    },
  };
};

/** The greatest number of moments in a window of this length. */
const mostWithin = (windowMs: number, moments: readonly number[]): number =>
  Math.max(
    ...moments.map((start) => moments.filter((at) => at >= start && at < start + windowMs).length),
  );

async function connected(ttlMs: number): Promise<Servers> {
  const servers = new Servers(ttlMs);
  // The first pong, which tells that a stream is alive, follows its second ping.
  await servers.world.advance(limits.stream.pingIntervalMs);
  expect(servers).toMatchObject({ openStreams: nodes, parked: nodes });
  return servers;
}

test.each([
  ['a small fleet at once', 10_000, reconnectMinMs],
  ['a large fleet over a longer time', 200_000, 200_000 / reconnectsPerTtl],
])('connections that are cut are opened again: %s', async (_, ttlMs, withinMs) => {
  const servers = await connected(ttlMs);
  const cutMs = servers.world.clock.monotonicMs();
  servers.lose();
  await servers.world.advance(withinMs);
  expect(servers).toMatchObject({ openStreams: nodes, parked: nodes });
  const { streamsAskedMs } = servers;
  expect(Math.min(...streamsAskedMs) - cutMs).toBeGreaterThanOrEqual(withinMs / 2);
  // Half of the time is theirs, so a tenth of it should see a fifth of them.
  expect(mostWithin(withinMs / 10, streamsAskedMs)).toBeLessThan(nodes * 0.35);
});

test.each([1_000, 20_000, 600_000])(
  'servers that were away for %i ms have all nodes back soon, and never all at once',
  async (awayMs) => {
    const servers = await connected(20_000);
    servers.fault = new Error('nobody listens');
    servers.lose();
    await servers.world.advance(awayMs);
    servers.fault = undefined;
    servers.streamsAskedMs = [];
    // At most as long as they have been away, and at most the longest pause.
    const soonMs = Math.min(2 * awayMs, reconnectMaxMs);
    await servers.world.advance(soonMs);
    expect(servers).toMatchObject({ openStreams: nodes, parked: nodes });
    expect(mostWithin(soonMs / 15, servers.streamsAskedMs)).toBeLessThan(nodes * 0.35);
  },
);

test('a pause that servers ask for is kept by every node, and its end is not that of the next', async () => {
  const servers = await connected(20_000);
  servers.fault = Object.assign(new Error('busy'), { status: 503, retryAfterSeconds: 5 });
  servers.lose();
  await servers.world.advance(reconnectMinMs);
  expect(servers.streamsAskedMs).toHaveLength(nodes);
  servers.fault = undefined;
  servers.streamsAskedMs = [];
  await servers.world.advance(5_000 - reconnectMinMs / 2);
  expect(servers).toMatchObject({ openStreams: 0, parked: 0 });
  await servers.world.advance(5_000 + reconnectMinMs);
  expect(servers).toMatchObject({ openStreams: nodes, parked: nodes });
  expect(mostWithin(500, servers.streamsAskedMs)).toBeLessThan(nodes * 0.25);
});

test.each([
  ['no number, as a proxy that names a time of the day', Number.NaN, 0],
  ['a month', 30 * 86_400, limits.stream.retryAfterMaxMs],
])(
  'a pause of %s neither ends at once nor keeps nodes away',
  async (_, retryAfterSeconds, leastMs) => {
    const servers = await connected(20_000);
    servers.fault = Object.assign(new Error('busy'), { status: 503, retryAfterSeconds });
    servers.lose();
    await servers.world.advance(reconnectMinMs);
    expect(servers.streamsAskedMs).toHaveLength(nodes);
    await servers.world.advance(10 * reconnectMinMs);
    // The pause is doubled each time.
    expect(servers.streamsAskedMs.length).toBeLessThan(6 * nodes);
    servers.fault = undefined;
    await servers.world.advance(2 * leastMs + 2 * reconnectMaxMs);
    expect(servers).toMatchObject({ openStreams: nodes, parked: nodes });
  },
);
