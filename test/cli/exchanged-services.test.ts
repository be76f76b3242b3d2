/** Two clusters that peer, and what the commands say of what they exchange. */
import { beforeAll, expect, test } from 'vitest';
import type { ServiceRegistration } from '../../src/model/service-registration/service-registration.ts';
import { serviceRegistrations } from '../../src/state/tables.ts';
import type { Unstamped } from '../../src/state/types.ts';
import { cliOf } from '../support/cli.ts';
import { startClusters } from '../support/clusters.ts';

const told: Unstamped<ServiceRegistration> = {
  ID: 'a1-group-web-http',
  ServiceName: 'web',
  Namespace: 'default',
  Status: 'passing',
  Address: '10.0.0.1',
  Port: 8080,
  Tags: ['blue'],
  Meta: null,
  TaskName: '',
  TaggedAddresses: null,
  Weights: null,
  NodeID: 'n1',
  JobID: 'shop',
  AllocID: 'a1',
  Datacenter: 'dc-east',
};

let east: ReturnType<typeof cliOf>;
let west: ReturnType<typeof cliOf>;
beforeAll(async () => {
  const { clusters, during, peer, world } = await startClusters(['east', 'west']);
  await peer(clusters.west, clusters.east);
  const { state, call } = clusters.east.api;
  await during(state.write((transaction) => transaction.table(serviceRegistrations).put(told)));
  const body = {
    Kind: 'exported-services',
    Name: 'default',
    Services: [
      { Name: 'web', Consumers: [{ Peer: 'west' }] },
      { Name: 'db', Consumers: [{ Peer: 'north' }, { Partition: 'left' }] },
    ],
  };
  await during(call('PUT', '/v1/config', { body }));
  await world.advance(1000);
  [east, west] = [cliOf(clusters.east.api), cliOf(clusters.west.api)];
});

test.each<[string, 'east' | 'west', string, number, string]>([
  [
    'exported services',
    'east',
    'service exported',
    0,
    `Service  Namespace  Peers  Partitions
db       default    north  left
web      default    west   -
`,
  ],
  [
    'exported services, filtered',
    'east',
    'service exported --filter Service=="db"',
    0,
    `Service  Namespace  Peers  Partitions
db       default    north  left
`,
  ],
  ['no exported services', 'west', 'service exported', 0, 'Nothing is exported.\n'],
  [
    'imported services',
    'west',
    'service imported',
    0,
    'Service  Namespace  Peer\nweb      default    east\n',
  ],
  ['no imported services', 'east', 'service imported', 0, 'Nothing is imported.\n'],
  ['services for a peer', 'east', 'peering exported-services -name west', 0, 'web\n'],
  [
    'no services for a peer',
    'west',
    'peering exported-services -name east',
    0,
    'Nothing is exported to "east".\n',
  ],
  [
    'the services of a peer',
    'west',
    'service list -peer east',
    0,
    'Service  Tags\nweb      blue\n',
  ],
  [
    'the instances at a peer',
    'west',
    'service info -peer east web',
    0,
    `Status   Address        Tags  Datacenter
passing  10.0.0.1:8080  blue  dc-east
`,
  ],
  [
    'why it is there',
    'east',
    'peering why web west',
    0,
    `Ours there: yes
  "west" has "web"; last acknowledged at TIME.
  - Services[0] (default/web) exports it
  - Services[1] (default/db) is of another service
Theirs here: no
  "west" has told all its exports (at TIME), and "web" is not among them: ask there why.
`,
  ],
  [
    'why it is here',
    'west',
    'peering why web east',
    0,
    `Ours there: no
  There is no exported-services entry with rules: nothing is exported.
Theirs here: yes
  "east" exports "web" with 1 instance.
`,
  ],
  [
    'why it is not',
    'east',
    'peering why db west',
    2,
    `Ours there: no
  "db" is exported, but "west" is not among the consumers.
  - Services[0] (default/web) is of another service
  - Services[1] (default/db) is for others
Theirs here: no
  "west" has told all its exports (at TIME), and "db" is not among them: ask there why.
`,
  ],
])('%s', async (_what, cluster, line, code, said) => {
  const cli = { east, west }[cluster];
  const { exitCode, stdout, stderr } = await cli(line.split(' '));
  expect([exitCode, stderr]).toEqual([code, '']);
  expect(stdout.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')).toBe(said);
  const asJson = await cli([...line.split(' '), '-json']);
  expect(asJson.exitCode).toBe(code);
  JSON.parse(asJson.stdout);
});

test.each<[string, string, string]>([
  [
    'service info -peer east db',
    'The peer "east" has no instance of "db" for us.',
    '"roster peering why db east" says why',
  ],
  ['service info -peer south web', 'Peering not found for "south".', ''],
  ['service list -peer south', 'Peering not found for "south".', ''],
  ['peering why web south', 'Peering not found for "south".', ''],
  ['peering exported-services -name south', 'Peering not found for "south".', ''],
  ['peering exported-services', "Missing required argument 'NAME'", ''],
])('%s is refused', async (line, refusal, hint) => {
  const { exitCode, stderr, stdout } = await west(line.split(' '));
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(stderr).toContain(refusal);
  expect(stderr).toContain(hint);
});
