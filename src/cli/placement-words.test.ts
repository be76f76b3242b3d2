import { expect, test } from 'vitest';
import { placementFailures } from '../model/allocation/placement-words.ts';
import { metrics } from './fixtures.test-helper.ts';

test.each<[string, Parameters<typeof metrics>[0], string[]]>([
  [
    'no node is ready',
    { NodesEvaluated: 0, NodesInPool: 0, NodesAvailable: {} },
    ['no node is ready in pool "default" ("roster node status" shows the nodes)'],
  ],
  [
    'no node is in the datacenters',
    { NodesEvaluated: 0, NodesInPool: 2, NodesAvailable: { dc9: 0 } },
    ['none of the 2 nodes in pool "default" is in a datacenter of the job'],
  ],
  [
    'resources run out',
    {
      DimensionExhausted: { cpu: 1, memory: 2 },
      ResourcesExhausted: { server: { CPU: 500, MemoryMB: 99_000, DiskMB: 0 } },
    },
    [
      '3 nodes were looked at',
      '2 nodes have too little memory left',
      '1 node has too little CPU left',
      'task "server" asks for 500 MHz, 99000 MB of memory',
    ],
  ],
  [
    'a port is taken',
    { NodesEvaluated: 1, DimensionExhausted: { 'network: reserved port collision label=db': 1 } },
    ['1 node was looked at', '1 node has the static port db in use already'],
  ],
  [
    'ports, devices and cores run out',
    {
      NodesEvaluated: 5,
      DimensionExhausted: {
        'network: reserved port collision http=80': 1,
        'network: dynamic port selection failed': 1,
        'network: no addresses available': 1,
        'devices: not enough gpu free': 1,
        cores: 1,
      },
      ClassExhausted: { small: 1 },
    },
    [
      '5 nodes were looked at',
      '1 node has too few cores left',
      '1 node has not enough gpu free',
      '1 node has no dynamic port left',
      '1 node has no address for its ports',
      '1 node has the static port http=80 in use already',
      '1 of those without room is of node class "small"',
    ],
  ],
  [
    'rules that are no constraints',
    {
      ConstraintFiltered: {
        'missing network': 1,
        'missing host network "public" for port "http"': 1,
        distinct_hosts: 1,
        'distinct_property: ${meta.rack}=r1 used by 2 allocs': 1,
      },
    },
    [
      '3 nodes were looked at',
      '1 node is ruled out: distinct_hosts: each already runs one of the job',
      '1 node is ruled out: distinct_property: ${meta.rack}=r1 used by 2 allocs',
      '1 node is ruled out: missing host network "public" for port "http"',
      '1 node is ruled out: missing network',
    ],
  ],
  [
    'constraints rule nodes out',
    {
      ConstraintFiltered: { 'kernel.name = windows': 2, 'missing drivers': 1 },
      ClassFiltered: { small: 2 },
    },
    [
      '3 nodes were looked at',
      '2 nodes are ruled out: constraint "kernel.name = windows" does not hold',
      '1 node is ruled out: a driver of its tasks is missing or unhealthy there',
      '2 of those ruled out are of node class "small"',
    ],
  ],
])('%s', (_, given, reasons) => {
  expect(placementFailures({ front: metrics(given) })).toEqual([
    { group: 'front', head: 'Group "front": 1 allocation could not be placed', reasons },
  ]);
});

test('equal failures of placement are counted', () => {
  const [first] = placementFailures({ front: metrics({ CoalescedFailures: 4 }) });
  expect(first!.head).toBe('Group "front": 5 allocations could not be placed');
});

test.each([
  [['docker'], 'the driver "docker" is missing or unhealthy there'],
  [['docker', 'java'], 'one of the drivers "docker", "java" is missing or unhealthy there'],
])('of a group whose drivers are known to be %j', (drivers, text) => {
  const failed = { front: metrics({ ConstraintFiltered: { 'missing drivers': 1 } }) };
  const [told] = placementFailures(failed, new Map([['front', drivers]]));
  expect(told!.reasons).toContain(`1 node is ruled out: ${text}`);
});
