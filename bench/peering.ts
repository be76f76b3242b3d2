import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { realWorld } from '../src/base/ports-real.ts';
import { schedulerDefaults } from '../src/scheduler/view.ts';
import { silentLog } from '../src/server/context.ts';
import { Keyring } from '../src/server/keyring/keyring.ts';
import { OutboundError } from '../src/server/login/outbound.ts';
import { webSocketTransport } from '../src/server/peering/web-socket-link.ts';
import { Server } from '../src/server/server.ts';
import { memoryState } from '../src/state/state.test-helper.ts';
import { allTables } from '../src/state/tables.ts';
import { type RunningAgent, startAgent, temporaryFolder } from './agent.ts';
import { type Benchmark, until } from './benchmark.ts';
import { limits } from './limits.ts';
import { quiet, residentBytes, usedMs } from './processes.ts';
import { call, gauges } from './target.ts';

const { peers: count, idleMs } = limits.peering;

export const peering: Benchmark = {
  name: 'peering',
  title: `${count} peers on one server, with idle streams`,
  baseline: 'none',
  takesGiven: false,
  async run({ runs, progress }) {
    const results: Peered[] = [];
    for (let run = 1; run <= runs; run++) {
      progress(`run ${run} of ${runs}`);
      results.push(await withServer(measured));
    }
    return {
      figures: [
        {
          name: 'resident memory for each peer',
          unit: 'KB',
          ours: results.map(({ bytesEach }) => bytesEach / 1024),
          target: { of: 'median', is: 'at most', value: 100 },
        },
        {
          name: 'processor of the server while all are idle',
          unit: '% of a core',
          ours: results.map(({ processorPercent }) => processorPercent),
          target: { of: 'median', is: 'at most', value: 1 },
        },
        {
          name: 'from the first token to the last open stream',
          unit: 'ms',
          ours: results.map(({ openMs }) => openMs),
        },
      ],
      notes: [
        'Each run has a new server in a process of its own, without a node, and the peers, whole ' +
          'servers as well, in that of the benchmark. All are dialled by them, each with a token of its own.',
        'Memory is the growth of the resident set from before the first token to when all streams ' +
          'are open and the process is at rest.',
        `The processor is that of the whole process in ${idleMs / 1000} s in which every stream ` +
          'beats every 15 s on either side, and nothing else happens.',
      ],
    };
  },
};

interface Peered {
  readonly bytesEach: number;
  readonly processorPercent: number;
  readonly openMs: number;
}

async function withServer(use: (agent: RunningAgent) => Promise<Peered>): Promise<Peered> {
  const folder = temporaryFolder();
  try {
    const config = join(folder.path, 'server.json');
    writeFileSync(config, JSON.stringify({ server_only: true }));
    const agent = await startAgent({ dataDirectory: join(folder.path, 'data'), config });
    try {
      return await use(agent);
    } finally {
      await agent.stop();
    }
  } finally {
    await folder.remove();
  }
}

async function measured({ target, pid }: RunningAgent): Promise<Peered> {
  const peers: Server[] = [];
  while (peers.length < count) peers.push(await startPeer());
  try {
    await quiet(pid);
    const before = residentBytes(pid);
    const startMs = performance.now();
    for (const [at, peer] of peers.entries()) {
      const { value } = await call<{ PeeringToken: string }>(target, 'POST', '/v1/peering/token', {
        PeerName: `peer-${at}`,
      });
      await peer.peerings.establish('default', { PeerName: 'server', ...value });
    }
    await until('that all streams are open', async () =>
      (await gauges(target))['peerings ACTIVE'] === count ? true : undefined,
    );
    const openMs = performance.now() - startMs;
    await quiet(pid);
    const bytesEach = (residentBytes(pid) - before) / count;
    const [usedBeforeMs, sinceMs] = [usedMs(pid), performance.now()];
    await new Promise((resolve) => setTimeout(resolve, idleMs));
    const spentMs = usedMs(pid) - usedBeforeMs;
    const processorPercent = (spentMs / (performance.now() - sinceMs)) * 100;
    return { bytesEach, processorPercent, openMs };
  } finally {
    for (const peer of peers) peer.stop();
  }
}

/** A dialling cluster with real sockets. */
export async function startPeer(): Promise<Server> {
  const world = realWorld;
  const state = await memoryState(allTables, world);
  const server = new Server({
    state,
    world,
    log: silentLog,
    region: 'global',
    datacenter: 'dc1',
    keyring: await Keyring.open(state, world.secrets.bytes(32), world),
    outbound: ({ url }) => Promise.reject(new OutboundError(`${url} is not asked`)),
    peers: webSocketTransport,
    rootSecret: undefined,
    scheduler: schedulerDefaults,
  });
  await server.start();
  return server;
}
