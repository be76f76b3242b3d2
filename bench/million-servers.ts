/** A million allocations over etcd, beside the embedded store. */
import { join } from 'node:path';
import { EtcdCluster, etcdServer } from '../test/support/etcd.ts';
import { type RunningAgent, startAgent, temporaryFolder } from './agent.ts';
import type { Benchmark, Setting } from './benchmark.ts';
import { EtcdServers, type Roles } from './etcd-servers.ts';
import { limits } from './limits.ts';
import { joinFleet, placeAll, roomyHeap, wanted } from './million.ts';
import { usedMs } from './processes.ts';
import { call } from './target.ts';

const servers = 3;
const token = '11111111-1111-4111-8111-111111111111';
const gigabyte = 1024 ** 3;
const { quotaGb, lookAgainMs } = limits.millionServers;

/** Seconds of processor time and of time. */
interface Embedded {
  readonly usedSeconds: number;
  readonly seconds: number;
}

interface OverEtcd {
  readonly leaderSeconds: number;
  /** Of the follower that used the most. */
  readonly followerSeconds: number;
  readonly etcdSeconds: number;
  readonly seconds: number;
  readonly longestLagMs: number;
  readonly greatestInUse: number;
}

export const millionServers: Benchmark = {
  name: 'million-servers',
  title: `${wanted.toLocaleString('en')} allocations, three servers over etcd`,
  baseline: 'one server with the embedded store; of a follower, the leader',
  takesGiven: false,
  isDurable: true,
  async run(setting) {
    if (!etcdServer.isMet) return { figures: [], notes: [`Not run: ${etcdServer.otherwise}.`] };
    const embedded = await onEmbedded(setting, 1);
    const crowded = await onEmbedded(setting, servers);
    const over = await onEtcd(setting);
    return {
      figures: [
        {
          name: 'processor time of the leader',
          unit: 's',
          ours: [over.leaderSeconds],
          baseline: [embedded.usedSeconds],
          target: { of: 'ratio', is: 'at most', value: 1.3 },
        },
        {
          name: 'the same, beside one of three such servers at once',
          unit: 's',
          ours: [over.leaderSeconds],
          baseline: [crowded.usedSeconds],
        },
        {
          name: 'processor time of a follower',
          unit: 's',
          ours: [over.followerSeconds],
          baseline: [over.leaderSeconds],
          target: { of: 'ratio', is: 'at most', value: 0.4 },
        },
        {
          name: 'the longest time by which a follower was behind',
          unit: 's',
          ours: [over.longestLagMs / 1000],
          target: { of: 'median', is: 'at most', value: 2 },
        },
        {
          name: 'registered over HTTP, evaluated, placed and durable',
          unit: 's',
          ours: [over.seconds],
          baseline: [embedded.seconds],
          target: { of: 'ratio', is: 'at most', value: 4 },
        },
        { name: 'processor time of the members of etcd', unit: 's', ours: [over.etcdSeconds] },
        {
          name: 'the most that a database of etcd had in use',
          unit: 'GB',
          ours: [over.greatestInUse / gigabyte],
          target: { of: 'median', is: 'at most', value: 4 },
        },
      ],
      notes: [
        `The load of \`million\`, at the leader. The quota of etcd is ${quotaGb} GB. Every ${lookAgainMs} ms the ` +
          'newest changes of allocations that all servers show are compared, and the databases are asked for their size.',
        'Nobody asks for metrics while jobs are placed: with 5,000 nodes an answer takes a server tens of milliseconds.',
        'Three servers and three members of etcd share the caches and the memory of this machine, so the second line has ' +
          'another baseline: the mean of three servers with the embedded store that take this load at the same time.',
      ],
    };
  },
};

/** Gives that many servers the whole load at the same time. The processor time is the mean of the servers. */
async function onEmbedded(setting: Setting, count: number): Promise<Embedded> {
  const folder = temporaryFolder();
  try {
    const start = async (_: unknown, number: number) => {
      const dataDirectory = join(folder.path, String(number));
      const agent = await startAgent({ dataDirectory, token, environment: roomyHeap });
      return { agent, fleet: await joinFleet(agent.target) };
    };
    setting.progress(`the embedded store, servers: ${count}: nodes join`);
    const all = await Promise.all(Array.from({ length: count }, start));
    const used = () => all.map(({ agent }) => usedMs(agent.pid));
    const before = used();
    const placed = await Promise.all(all.map(({ agent }) => placeAll(agent)));
    const usedSeconds = used().map((ms, at) => (ms - before[at]!) / 1000);
    for (const { agent, fleet } of all) {
      fleet.leave();
      await agent.kill();
    }
    const sum = usedSeconds.reduce((total, one) => total + one, 0);
    return { usedSeconds: sum / count, seconds: placed[0]! / 1000 };
  } finally {
    await folder.remove();
  }
}

async function onEtcd(setting: Setting): Promise<OverEtcd> {
  const folder = temporaryFolder();
  try {
    const etcd = await EtcdCluster.start(servers, {
      directory: join(folder.path, 'etcd'),
      flags: { 'quota-backend-bytes': String(quotaGb * gigabyte) },
    });
    try {
      const options = { folder: folder.path, etcd, token, environment: roomyHeap };
      const group = new EtcdServers(options);
      await Promise.all(Array.from({ length: servers }, (_, number) => group.start(number)));
      return await measure(setting, await group.roles(), etcd);
    } finally {
      await etcd.stop();
    }
  } finally {
    await folder.remove();
  }
}

async function measure(setting: Setting, roles: Roles, etcd: EtcdCluster): Promise<OverEtcd> {
  const { leader, followers } = roles;
  setting.progress('over etcd: nodes join');
  const fleet = await joinFleet(leader.target);
  const used = (pids: readonly number[]) => pids.map(usedMs);
  const [agents, members] = [[leader, ...followers].map(({ pid }) => pid), etcd.pids];
  const before = [used(agents), used(members)] as const;
  const watch = watchServers(roles, etcd);
  const placedMs = await placeAll(leader);
  const { longestLagMs, greatestInUse } = await watch.end();
  const since = (now: readonly number[], then: readonly number[]) =>
    now.map((ms, at) => (ms - then[at]!) / 1000);
  const [leaderSeconds = 0, ...followerSeconds] = since(used(agents), before[0]);
  fleet.leave();
  return {
    leaderSeconds,
    followerSeconds: Math.max(...followerSeconds),
    etcdSeconds: since(used(members), before[1]).reduce((sum, one) => sum + one, 0),
    seconds: placedMs / 1000,
    longestLagMs,
    greatestInUse,
  };
}

/** Compares the followers with the leader until the end. */
function watchServers({ leader, followers }: Roles, etcd: EtcdCluster) {
  const client = etcd.client();
  const over = new AbortController();
  /** When the leader was seen at which index, the oldest first. */
  const seen: { readonly index: number; readonly atMs: number }[] = [];
  let [longestLagMs, greatestInUse] = [0, 0];
  const look = async () => {
    const index = await indexOf(leader);
    seen.push({ index, atMs: performance.now() });
    const shown = await Promise.all(followers.map(indexOf));
    for (const follower of shown) {
      const missed = seen.find((one) => one.index > follower);
      if (missed === undefined) continue;
      longestLagMs = Math.max(longestLagMs, performance.now() - missed.atMs);
    }
    const least = Math.min(...shown);
    while (seen[0] !== undefined && seen[0].index <= least) seen.shift();
    const inUse = (await client.status()).map(({ dbBytesInUse }) => dbBytesInUse);
    greatestInUse = Math.max(greatestInUse, ...inUse);
  };
  const run = async () => {
    while (!over.signal.aborted) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
    }
  };
  const running = run();
  running.catch(() => {});
  return {
    async end() {
      over.abort();
      await running;
      return { longestLagMs, greatestInUse };
    },
  };
}

/**
 * Index of the newest change of allocations that the server shows by itself. The metrics of the server tell an index as well,
 * but with a thousand jobs they take 12 ms, which would be measured with the load.
 */
async function indexOf({ target }: RunningAgent): Promise<number> {
  const path = '/v1/allocations?stale&per_page=1&task_states=false';
  return (await call<readonly unknown[]>(target, 'GET', path)).index;
}
