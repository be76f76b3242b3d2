/**
 * A server and its reader on simulated time, of which the reader is under test. Requests to it cross the connection
 * between threads as in an agent, but in no time and in a single thread.
 */
import type { ReaderMetrics } from '../../src/api/metrics/metrics.ts';
import type { Timers } from '../../src/base/ports.ts';
import type { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { socketPair } from '../../src/model/node-stream/socket-pair.test-helper.ts';
import { lagsOf } from '../../src/server/attention/cluster.ts';
import { Keyring } from '../../src/server/keyring/keyring.ts';
import { networkLimits } from '../../src/server/network/limits.ts';
import { mainThread } from '../../src/server/readers/main-thread.ts';
import { ReaderLink } from '../../src/server/readers/reader-link.ts';
import { FeedingEngine } from '../../src/state/engine/feeding.ts';
import { type MemoryDisk, MemoryEngine } from '../../src/state/engine/memory.ts';
import { ReaderEngine } from '../../src/state/engine/reader.ts';
import { openState } from '../../src/state/state.ts';
import { allTables } from '../../src/state/tables.ts';
import { type Assemble, answerOf, type ClusterOfThree, shownBy } from './follower.ts';

/** Set by `ROSTER_TEST_READER=1`: the API under test is that of a reader. */
export const testsReader = process.env.ROSTER_TEST_READER === '1';

export async function startReader(
  world: SimulatedWorld,
  rootKey: Uint8Array,
  assemble: Assemble,
  disk: MemoryDisk,
): Promise<ClusterOfThree> {
  const { timers } = world;
  const tables = { tables: allTables, timers, freeze: true };
  const feeding = new FeedingEngine(new MemoryEngine(disk, timers), timers);
  const state = await openState({ ...tables, engine: feeding });
  const [here, there] = socketPair();
  const fail = (error: unknown) => {
    throw error;
  };
  const metrics = async () => [JSON.parse(await link.metrics(patience)) as ReaderMetrics];
  const { server, api } = assemble(state, await Keyring.open(state, rootKey, world), {
    readers: { streamTo: (nodeId, given) => link.streamTo(nodeId, given) },
    metricsOfReaders: metrics,
  });
  const link = new ReaderLink({
    id: 'reader',
    socket: here,
    timers,
    here: {
      answer: answerOf(api),
      streamTo: async (nodeId, given) =>
        server.streams.held(nodeId) ?? link.streamTo(nodeId, given),
      takePeer: (peer) => server.peerings.accept(peer),
      lags: () => lagsOf(server),
    },
    onError: fail,
  });
  await server.start();
  const engine = new ReaderEngine(feeding.durable);
  const send = (fed: Parameters<typeof engine.take>[0]) => queueMicrotask(() => engine.take(fed));
  const opening = openState({ ...tables, engine, report: fail });
  let isLoaded = false;
  const fed = feeding
    .feed(state.read(), [{ send, taken: () => Number.POSITIVE_INFINITY, tooSlow: () => {} }])
    .then(() => {
      isLoaded = true;
    });
  // The parts of the snapshot are made in slices.
  while (!isLoaded) await world.advance(0);
  await fed;
  const shown = await opening;
  const servers = mainThread({
    socket: there,
    timers: withoutBeats(timers),
    clock: world.clock,
    address: () => '',
    isCurrent: () => shown.read().index >= feeding.durable.read(),
  });
  const reader = assemble(shown, Keyring.follow(shown, rootKey, world), {
    servers,
    isReader: true,
  });
  await reader.server.start();
  servers.join({
    streams: reader.server.streams,
    metrics: async () => JSON.stringify(reader.api.metricsOfThread()),
    onError: fail,
  });
  return { server, api: reader.api, state: shownBy(shown, state) };
}

const patience = { deadlineMs: 1000 };

/** A test may let months pass. */
const withoutBeats = (timers: Timers): Timers => ({
  ...timers,
  after: (delayMs, run) =>
    delayMs === networkLimits.beatMs ? { clear: () => {} } : timers.after(delayMs, run),
});
