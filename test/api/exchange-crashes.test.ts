/**
 * Clusters with peering streams: after every fault, each has the services exported by the other.
 */
import { beforeEach, expect, test } from 'vitest';
import type { ServiceRegistration } from '../../src/model/service-registration/service-registration.ts';
import { serviceRegistrations } from '../../src/state/tables.ts';
import type { Unstamped } from '../../src/state/types.ts';
import { type Cluster, startClusters } from '../support/clusters.ts';

let started: Awaited<ReturnType<typeof startClusters<'east' | 'west' | 'north'>>>;
let east: Cluster;
let west: Cluster;
let north: Cluster;
beforeEach(async () => {
  started = await startClusters(['east', 'west', 'north']);
  ({ east, west, north } = started.clusters);
  await started.peer(west, east);
  await started.peer(north, east);
  await exports(east, ['web', 'west'], ['db', 'north'], ['db', 'west']);
});

const pass = (durationMs = 1000) => started.world.advance(durationMs);
const exports = async (cluster: Cluster, ...rules: readonly [string, string][]) => {
  const Services = rules.map(([Name, Peer]) => ({ Name, Consumers: [{ Peer }] }));
  const merged = [...Map.groupBy(Services, ({ Name }) => Name)].map(([Name, of]) => ({
    Name,
    Consumers: of.flatMap(({ Consumers }) => Consumers),
  }));
  const body = { Kind: 'exported-services', Name: 'default', Services: merged };
  const { status, text } = await started.during(cluster.api.call('PUT', '/v1/config', { body }));
  expect(status, text).toBe(200);
};
const row = (ServiceName: string, ID: string): Unstamped<ServiceRegistration> => ({
  ID,
  ServiceName,
  Namespace: 'default',
  Status: 'passing',
  Address: '10.0.0.1',
  Port: 80,
  Tags: null,
  Meta: null,
  TaskName: '',
  TaggedAddresses: null,
  Weights: null,
  NodeID: 'n1',
  JobID: 'shop',
  AllocID: 'a1',
  Datacenter: 'dc1',
});
const register = (cluster: Cluster, name: string, ...ids: string[]) =>
  started.during(
    cluster.api.state.write((transaction) => {
      for (const id of ids) transaction.table(serviceRegistrations).put(row(name, id));
    }),
  );
const remove = (cluster: Cluster, name: string, id: string) =>
  started.during(
    cluster.api.state.write((transaction) =>
      transaction.table(serviceRegistrations).delete('default', 'default', name, id),
    ),
  );
/** `web/1 web/2`, or the status of a failed request. */
const seenAt = async (cluster: Cluster, peer: string): Promise<string> => {
  const ids: string[] = [];
  for (const name of ['db', 'web']) {
    const { status, json } = await cluster.api.call('GET', `/v1/service/${name}?peer=${peer}`);
    if (status !== 200) return String(status);
    ids.push(...json.map(({ ID }: { ID: string }) => `${name}/${ID}`));
  }
  return ids.join(' ');
};

test('each peer sees the services exported to it and no others', async () => {
  await register(east, 'web', '1', '2');
  await register(east, 'db', '3');
  await register(east, 'secret', '4');
  await pass();
  expect([await seenAt(west, 'east'), await seenAt(north, 'east')]).toEqual([
    'db/3 web/1 web/2',
    'db/3',
  ]);
  await exports(east, ['web', 'north']);
  await pass();
  expect([await seenAt(west, 'east'), await seenAt(north, 'east')]).toEqual(['', 'web/1 web/2']);
});

test.each(['west', 'east'] as const)(
  'what changes while %s is down is there afterwards',
  async (name) => {
    await register(east, 'web', '1', '2');
    await pass();
    const down = started.clusters[name];
    if (down === west) {
      await west.crash();
      await remove(east, 'web', '1');
      await register(east, 'web', '3');
    } else {
      await remove(east, 'web', '1');
      await register(east, 'web', '3');
      await east.crash();
      // The last known services stay while the peer is unreachable.
      expect(await seenAt(west, 'east')).toContain('web/2');
    }
    await down.restart();
    await pass(180_000);
    expect([await west.state('east'), await seenAt(west, 'east')]).toEqual([
      'ACTIVE',
      'web/2 web/3',
    ]);
  },
);

test('a deleted peering removes its own services only', async () => {
  await register(east, 'db', '1');
  await pass();
  await west.api.call('DELETE', '/v1/peering/east');
  await pass(5000);
  expect([await seenAt(west, 'east'), await seenAt(north, 'east')]).toEqual(['404', 'db/1']);
  expect(await east.state('west')).toBe('TERMINATED');
  await register(east, 'db', '2');
  await pass();
  expect(await seenAt(north, 'east')).toBe('db/1 db/2');
});
