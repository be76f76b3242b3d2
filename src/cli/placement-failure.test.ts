import { expect, test } from 'vitest';
import { metrics } from './fixtures.ts';
import { placementFailures } from './placement-failure.ts';

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
    'constraints rule nodes out',
    {
      ConstraintFiltered: { 'kernel.name = windows': 2, 'missing drivers': 1 },
      ClassFiltered: { small: 2 },
    },
    [
      '3 nodes were looked at',
      '2 nodes are ruled out: constraint "kernel.name = windows" does not hold',
      '1 node is ruled out: a driver of its tasks is missing or unhealthy there',
      '2 nodes are ruled out: all of node class "small"',
    ],
  ],
])('%s', (_, given, reasons) => {
  expect(placementFailures({ front: metrics(given) })).toEqual([
    { head: 'Group "front": 1 allocation could not be placed', reasons },
  ]);
});

test('placements that fail alike are counted', () => {
  const [first] = placementFailures({ front: metrics({ CoalescedFailures: 4 }) });
  expect(first!.head).toBe('Group "front": 5 allocations could not be placed');
});
