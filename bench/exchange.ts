/** The time until services of a cluster are seen by its peer: two agents over a real link. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Agent, createAgent } from '../src/agent.ts';
import type { ServiceRegistration } from '../src/model/service-registration/service-registration.ts';
import { importedInstances, serviceRegistrations } from '../src/state/tables.ts';
import type { Unstamped } from '../src/state/types.ts';
import { type Benchmark, type Results, type Setting, until } from './benchmark.ts';
import { limits } from './limits.ts';
import { percentile } from './statistics.ts';
import { call, type Target, targetOf } from './target.ts';

const { instances, services, changes } = limits.exchange;

export const exchange: Benchmark = {
  name: 'exchange',
  title: `${instances} instances of ${services} services go to a new peer, and one of them changes`,
  baseline: 'none: there is nothing bare that does the same',
  takesGiven: false,
  isDurable: true,
  run: measure,
};

async function measure(setting: Setting): Promise<Results> {
  const arrivals: number[] = [];
  const medians: number[] = [];
  const slowest: number[] = [];
  for (let run = 1; run <= setting.runs; run++) {
    setting.progress(`run ${run} of ${setting.runs}`);
    await withClusters(async (from, to) => {
      arrivals.push(await arrivalMs(from, to));
      const tookMs = await changesMs(from, to);
      medians.push(percentile(tookMs, 50));
      slowest.push(Math.max(...tookMs));
    });
  }
  const most = { of: 'median', is: 'at most' } as const;
  return {
    figures: [
      {
        name: 'all of them are at the peer',
        unit: 'ms',
        ours: arrivals,
        target: { ...most, value: 5000 },
      },
      {
        name: 'a change is at the peer, median of a run',
        unit: 'ms',
        ours: medians,
        target: { ...most, value: 200 },
      },
      { name: 'a change is at the peer, slowest of a run', unit: 'ms', ours: slowest },
    ],
    notes: [
      'Two agents with stores on disk in this process, peered over a WebSocket of the loopback. The first ' +
        'figure is from the request to establish the peering until the last instance is durable at the ' +
        `other agent; the second, of ${changes} changes one after another, from the beginning of the ` +
        'transaction at one to the commit at the other.',
    ],
  };
}

interface Cluster extends Agent {
  readonly target: Target;
}

async function withClusters(work: (from: Cluster, to: Cluster) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'roster-bench-'));
  const agents: Agent[] = [];
  const cluster = async (name: string): Promise<Cluster> => {
    const agent = await createAgent({
      dataDirectory: join(directory, name),
      http: { host: '127.0.0.1', port: 0 },
      makesRootToken: true,
    });
    agents.push(agent);
    return { ...agent, state: agent.state, target: targetOf(agent.address, agent.rootToken!) };
  };
  try {
    await work(await cluster('from'), await cluster('to'));
  } finally {
    for (const agent of agents) await agent.close('stop');
    rmSync(directory, { recursive: true, force: true });
  }
}

const instance = (n: number, Port = 8080): Unstamped<ServiceRegistration> => ({
  ID: `${n}-group-web-http`,
  ServiceName: `web-${n % services}`,
  Namespace: 'default',
  Address: '10.0.0.1',
  Port,
  Status: 'passing',
  Tags: ['blue', `n${n}`],
  Meta: { n: `${n}` },
  TaskName: '',
  TaggedAddresses: null,
  Weights: null,
  NodeID: 'node',
  Datacenter: 'dc1',
  JobID: 'web',
  AllocID: `${n}`,
});

async function arrivalMs(from: Cluster, to: Cluster): Promise<number> {
  const parts = 100;
  for (let part = 0; part < parts; part++) {
    await from.state.write((transaction) => {
      const table = transaction.table(serviceRegistrations);
      for (let n = part; n < instances; n += parts) table.put(instance(n));
    });
  }
  await call(from.target, 'PUT', '/v1/config', {
    Kind: 'exported-services',
    Name: 'default',
    Services: [{ Name: '*', Consumers: [{ Peer: 'to' }] }],
  });
  const made = await call<{ readonly PeeringToken: string }>(
    from.target,
    'POST',
    '/v1/peering/token',
    { PeerName: 'to' },
  );
  const { PeeringToken } = made.value;
  const startMs = performance.now();
  await call(to.target, 'POST', '/v1/peering/establish', { PeerName: 'from', PeeringToken });
  await until('that all instances have arrived', async () => {
    return to.state.read().table(importedInstances).size === instances ? true : undefined;
  });
  return performance.now() - startMs;
}

async function changesMs(from: Cluster, to: Cluster): Promise<number[]> {
  const tookMs: number[] = [];
  for (let n = 0; n < changes; n++) {
    const seen = Promise.withResolvers<void>();
    const stop = to.state.onCommit((committed) => {
      if (committed.some(({ table }) => table === importedInstances.name)) seen.resolve();
    });
    const startMs = performance.now();
    await from.state.write((transaction) => {
      transaction.table(serviceRegistrations).put(instance(n, 9090));
    });
    await seen.promise;
    tookMs.push(performance.now() - startMs);
    stop();
  }
  return tookMs;
}
