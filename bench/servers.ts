/** Three servers over three members of etcd, beside one server with the embedded store. */
import { join } from 'node:path';
import { EtcdCluster, etcdServer } from '../test/support/etcd.ts';
import { startAgent, temporaryFolder } from './agent.ts';
import { type Benchmark, type Figure, type Results, type Setting, until } from './benchmark.ts';
import { EtcdServers } from './etcd-servers.ts';
import { smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { requestBytes } from './load.ts';
import { placedBefore, takeOverMs } from './take-over.ts';
import { ask, call, type Target } from './target.ts';
import { load, numbered } from './wrk.ts';

const count = 3;
const { takeOver } = limits;
const token = '11111111-1111-4111-8111-111111111111';

export const servers: Benchmark = {
  name: 'servers',
  title: `Three servers over etcd, ${limits.connections} connections`,
  baseline: 'the embedded store of one server; of reads at a follower, the leader',
  takesGiven: false,
  usesWrk: true,
  isDurable: true,
  async run(setting) {
    if (!etcdServer.isMet) return { figures: [], notes: [`Not run: ${etcdServer.otherwise}.`] };
    const folder = temporaryFolder();
    try {
      const embedded = await startAgent({ dataDirectory: join(folder.path, 'embedded'), token });
      const etcd = await EtcdCluster.start(count, { directory: join(folder.path, 'etcd') });
      try {
        return await measure(setting, {
          embedded: embedded.target,
          servers: new EtcdServers({ folder: folder.path, etcd, token }),
        });
      } finally {
        await etcd.stop();
      }
    } finally {
      await folder.remove();
    }
  },
};

interface Bench {
  readonly embedded: Target;
  readonly servers: EtcdServers;
}

/** The figures of one run. */
type Run = Readonly<Record<keyof typeof figures, number>>;

async function measure(setting: Setting, bench: Bench): Promise<Results> {
  await Promise.all(Array.from({ length: count }, (_, number) => bench.servers.start(number)));
  const runs: Run[] = [];
  const embedded: Pick<Run, 'leaderWrites' | 'staleReads'>[] = [];
  for (let run = 0; run <= setting.runs; run++) {
    setting.progress(run === 0 ? 'warm-up' : `run ${run} of ${setting.runs}`);
    const writes = await writesPerSecond(bench.embedded, run);
    const measured = await oneRun(bench, run);
    if (run === 0) continue;
    runs.push(measured.run);
    embedded.push({ leaderWrites: writes, staleReads: measured.leaderReads });
  }
  const ofRuns = Object.entries(figures).map(([name, figure]): Figure => {
    const { baseline, ...rest } = figure;
    return {
      ...rest,
      ours: runs.map((one) => one[name as keyof Run]),
      ...(baseline && { baseline: embedded.map((one) => one[baseline]) }),
    };
  });
  const takenOver: Figure = {
    name: `from winning to the first placement, with ${placedBefore.toLocaleString('en')} allocations`,
    unit: 'ms',
    ours: await takeOverMs(setting, () => bench.servers.roles()),
    target: { of: 'median', is: 'at most', value: 1_000 },
  };
  return {
    figures: [...ofRuns, takenOver],
    notes: [
      `Writes register jobs without tasks for ${limits.loadSeconds} s in a run. Members of etcd, servers and ` +
        'load share the processors. “Without writes” is the longest time between two answered writes of one client ' +
        'at a follower, while the leader hands over or is killed, or in as many writes without either.',
      `The allocations of the last figure are ${takeOver.jobs} jobs of ${takeOver.count} on ${takeOver.nodes} nodes that ` +
        'exist on paper alone. Then the leader hands over, a client registers a job through a follower, and the figure ' +
        'is the time from the beginning of the new term until that client sees the placement.',
    ],
  };
}

async function oneRun(bench: Bench, run: number) {
  const { leader, followers } = await bench.servers.roles();
  const [follower] = followers;
  await call(leader.target, 'POST', '/v1/jobs', smallJob('bench-read', { count: 0 }));
  const leaderWrites = await writesPerSecond(leader.target, run);
  const followerWrites = await writesPerSecond(follower!.target, run);
  const reads = (target: Target, mode: string) =>
    load(target, requestBytes(target, 'GET', `/v1/job/bench-read${mode}`));
  const leaderReads = await reads(leader.target, '?stale');
  const staleReads = await reads(follower!.target, '?stale');
  const leaderDefault = await reads(leader.target, '');
  const followerDefault = await reads(follower!.target, '');
  const undisturbedMs = await gapMs(follower!.target, async () => {});
  const handOverMs = await gapMs(follower!.target, () =>
    call(leader.target, 'PUT', '/v1/operator/leader/step-down'),
  );
  const killMs = await gapAfterKillMs(bench);
  return {
    leaderReads: leaderReads.perSecond,
    run: {
      leaderWrites,
      followerWrites,
      staleReads: staleReads.perSecond,
      leaderDefaultMs: leaderDefault.p50Ms,
      followerDefaultMs: followerDefault.p50Ms,
      undisturbedMs,
      handOverMs,
      killMs,
    },
  };
}

const figures = {
  leaderWrites: {
    name: 'durable writes at the leader',
    unit: '/s',
    baseline: 'leaderWrites',
    target: { of: 'ratio', is: 'at least', value: 0.5 },
  },
  followerWrites: {
    name: 'durable writes through a follower',
    unit: '/s',
    baseline: 'leaderWrites',
    target: { of: 'ratio', is: 'at least', value: 0.35 },
  },
  staleReads: {
    name: 'reads with stale at a follower',
    unit: '/s',
    baseline: 'staleReads',
    target: { of: 'ratio', is: 'at least', value: 0.9 },
  },
  leaderDefaultMs: { name: 'exact read at the leader, median', unit: 'ms', baseline: undefined },
  followerDefaultMs: { name: 'exact read at a follower, median', unit: 'ms', baseline: undefined },
  undisturbedMs: { name: 'without writes while nothing happens', unit: 'ms', baseline: undefined },
  handOverMs: {
    name: 'without writes at a hand-over',
    unit: 'ms',
    baseline: undefined,
    target: { of: 'median', is: 'at most', value: 300 },
  },
  killMs: {
    name: 'without writes when the leader is killed',
    unit: 'ms',
    baseline: undefined,
    target: { of: 'median', is: 'at most', value: 12_000 },
  },
} as const;

/** Registers jobs, for each run the same ones anew. */
async function writesPerSecond(target: Target, run: number): Promise<number> {
  const { Job } = smallJob(`bench-${run}-${numbered}`, { count: 0 });
  const body = { Job: { ...Job, Meta: { written: `${target.port}` } } };
  const request = requestBytes(target, 'POST', '/v1/jobs', JSON.stringify(body));
  return (await load(target, request)).perSecond;
}

/** The longest time between two answered writes around the event. A failed write before its end is an error. */
async function gapMs(
  target: Target,
  event: () => Promise<unknown>,
  mayFail: (status: number) => boolean = () => false,
): Promise<number> {
  let longestMs = 0;
  let lastMs = performance.now();
  let left = limits.servers.writesAround;
  const happening = write().then(event);
  let isOver = false;
  const ended = happening.finally(() => {
    isOver = true;
  });
  while (!isOver || left > 0) {
    if (isOver) left--;
    await write();
  }
  await ended;
  return longestMs;

  async function write(): Promise<void> {
    const { status, body } = await ask(target, 'PUT', '/v1/namespace/gap', { Name: 'gap' });
    if (status !== 200 && !mayFail(status)) throw new Error(`a write failed: ${status} ${body}`);
    if (status !== 200) return;
    longestMs = Math.max(longestMs, performance.now() - lastMs);
    lastMs = performance.now();
  }
}

async function gapAfterKillMs(bench: Bench): Promise<number> {
  const { leader, followers } = await bench.servers.roles();
  const number = bench.servers.agents.indexOf(leader);
  const took = await gapMs(
    followers[0]!.target,
    async () => {
      await leader.kill();
      // Until somebody else leads.
      await until('another leader', async () => {
        const { body } = await ask(followers[0]!.target, 'GET', '/v1/status/leader');
        const address = JSON.parse(body.toString()) as string;
        const { host, port } = leader.target;
        return address !== '' && address !== `${host}:${port}` ? address : undefined;
      });
    },
    (status) => status === 503,
  );
  await bench.servers.start(number);
  return took;
}
