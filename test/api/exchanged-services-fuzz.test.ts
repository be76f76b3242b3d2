import { expect, test } from 'vitest';
import type { ServiceRegistration } from '../../src/model/service-registration/service-registration.ts';
import { serviceRegistrations } from '../../src/state/tables.ts';
import type { Unstamped } from '../../src/state/types.ts';
import { aclOf } from '../support/acl.ts';
import { rootToken } from '../support/api.ts';
import { startClusters } from '../support/clusters.ts';
import { type Known, operationsOf } from '../support/fuzz.ts';
import { fuzz } from '../support/fuzz-api.ts';

const runsPerOperation = 200;
const isAsked = (path: string) =>
  /^\/v1\/(services|service\/\{service\}|(ex|im)ported-services|peering\/\{name\}\/why)$/.test(
    path,
  );

const told: Unstamped<ServiceRegistration> = {
  ID: 'a1-group-web-http',
  ServiceName: 'web',
  Namespace: 'default',
  Status: 'passing',
  Address: '10.0.0.1',
  Port: 8080,
  Tags: ['a'],
  Meta: null,
  TaskName: '',
  TaggedAddresses: null,
  Weights: null,
  NodeID: 'n1',
  JobID: 'shop',
  AllocID: 'a1',
  Datacenter: 'dc1',
};

test('answers about exchanged services fit the OpenAPI document and are never a 500', async () => {
  const { clusters, during, peer, world } = await startClusters(['east', 'west']);
  await peer(clusters.west, clusters.east);
  for (const { api } of Object.values(clusters)) {
    await during(
      api.state.write((transaction) => transaction.table(serviceRegistrations).put(told)),
    );
    const Services = [{ Name: '*', Consumers: [{ Peer: 'west' }, { Peer: 'east' }] }];
    const body = { Kind: 'exported-services', Name: 'default', Services };
    await during(api.call('PUT', '/v1/config', { body }));
  }
  await world.advance(1000);
  const { api } = clusters.west;
  const known: Known = {
    paths: { service: ['web', 'none'], name: ['east', 'East', 'none'] },
    texts: {
      peer: ['east', 'east', 'none'],
      partition: ['', 'default', 'left'],
      service: ['web'],
      namespace: ['default', '*', 'none'],
      ns: ['default', '*'],
      choose: ['1|a', 'a'],
      filter: ['ServiceName == "web"', 'Peer == "east"', '"west" in Consumers.Peers'],
    },
    bodies: {},
    secrets: [
      rootToken,
      rootToken,
      null,
      await aclOf(api).holder('namespace "default" { policy = "read" }'),
      await aclOf(api).holder('operator = "read"'),
    ],
  };
  const { json } = await api.call('GET', '/v1/openapi.json');
  const operations = operationsOf(json, isAsked);
  expect(operations).toHaveLength(5);
  for (const operation of operations) {
    const seen = await fuzz(api, operation, known, runsPerOperation);
    const what = `${operation.path} ${JSON.stringify([...seen])}`;
    expect(seen.get(200) ?? 0, what).toBeGreaterThan(0);
  }
});
