import { describe, expect, test } from 'vitest';
import { checkNode, type NodeChange } from './check.ts';
import { makeGroup, makeJob, makeNode, makeTask, TestCluster } from './cluster.test-helper.ts';

const job = makeJob({
  TaskGroups: [
    makeGroup({
      Count: 2,
      Tasks: [makeTask({ Resources: { CPU: 400, MemoryMB: 100 } })],
      Networks: [{ DynamicPorts: [{ Label: 'http' }] }],
    }),
  ],
});

const cluster = new TestCluster([makeNode('n1')]);
cluster.putJob(job);
cluster.run();
const [first, second] = cluster.live();
const stopOfFirst = {
  allocationId: first!.ID,
  nodeId: 'n1',
  desiredStatus: 'stop',
  desiredDescription: '',
} as const;

const like = (id: string, port: number, changes: { cpu?: number; previous?: string } = {}) => {
  const { Tasks, Shared } = first!.AllocatedResources;
  const server = Tasks.server!;
  const cpu = changes.cpu ?? 100;
  return {
    ID: id,
    TaskGroup: 'web',
    PreviousAllocation: changes.previous ?? '',
    AllocatedResources: {
      ...first!.AllocatedResources,
      Tasks: { server: { ...server, Cpu: { ...server.Cpu, CpuShares: cpu } } },
      Shared: { ...Shared, Ports: [{ ...Shared.Ports![0]!, Value: port }] },
    },
  };
};
const portOfFirst = first!.AllocatedResources.Shared.Ports![0]!.Value;

const base: NodeChange = {
  node: makeNode('n1'),
  existing: [first!, second!],
  stops: [],
  placements: [],
  updates: [],
  job,
};
const place = (...placements: NodeChange['placements']) => ({ placements });

describe('in the order of the checks (facts §6.1)', () => {
  test.each<[string, Partial<NodeChange>, string | undefined]>([
    ['nothing but stops, node gone', { node: undefined, stops: [stopOfFirst] }, undefined],
    ['node gone', { node: undefined, ...place(like('a', 1)) }, 'node does not exist'],
    ['node down', { node: makeNode('n1', { Status: 'down' }), updates: [first!] }, 'node is down'],
    [
      'disconnected',
      { node: makeNode('n1', { Status: 'disconnected' }), updates: [first!] },
      'node is disconnected',
    ],
    [
      'update on an ineligible node',
      { node: makeNode('n1', { SchedulingEligibility: 'ineligible' }), updates: [first!] },
      undefined,
    ],
    [
      'placement on an ineligible node',
      { node: makeNode('n1', { SchedulingEligibility: 'ineligible' }), ...place(like('a', 1)) },
      'node is not ready and eligible',
    ],
    ['fits', place(like('a', 1, { cpu: 200 })), undefined],
    ['cpu', place(like('a', 1, { cpu: 201 })), 'cpu'],
    ['cpu of two together', place(like('a', 1, { cpu: 101 }), like('b', 2)), 'cpu'],
    [
      'cpu of one that is told to go',
      { stops: [stopOfFirst], ...place(like('a', 1, { cpu: 201 })) },
      'cpu',
    ],
    [
      'cpu of the one that it replaces',
      { stops: [stopOfFirst], ...place(like('a', 1, { cpu: 600, previous: first!.ID })) },
      undefined,
    ],
    [
      'cpu of one that was told to go before',
      {
        existing: [{ ...first!, DesiredStatus: 'stop' }, second!],
        ...place(like('a', 1, { cpu: 600, previous: first!.ID })),
      },
      undefined,
    ],
    [
      'more than that one leaves',
      { stops: [stopOfFirst], ...place(like('a', 1, { cpu: 601, previous: first!.ID })) },
      'cpu',
    ],
    [
      'what a smaller replacement leaves is not free yet',
      {
        stops: [stopOfFirst],
        ...place(like('a', 1, { previous: first!.ID }), like('b', 2, { cpu: 201 })),
      },
      'cpu',
    ],
    [
      'the place of one that nobody stops',
      place(like('a', 1, { cpu: 600, previous: first!.ID })),
      'cpu',
    ],
    [
      'the place of one that waits for its own predecessor',
      {
        existing: [{ ...first!, PreviousAllocation: second!.ID }, second!],
        stops: [stopOfFirst],
        ...place(like('a', 1, { cpu: 600, previous: first!.ID })),
      },
      'cpu',
    ],
    [
      'a mark frees nothing',
      { stops: [{ ...stopOfFirst, desiredStatus: 'run' }], ...place(like('a', 1, { cpu: 600 })) },
      'cpu',
    ],
    [
      'an update counts once',
      { updates: [first!], ...place(like('a', 1, { cpu: 200 })) },
      undefined,
    ],
    [
      'what ended holds nothing',
      {
        existing: [{ ...first!, ClientStatus: 'complete' }, second!],
        ...place(like('a', portOfFirst, { cpu: 600 })),
      },
      undefined,
    ],
    [
      'what is stopped but runs holds on',
      {
        existing: [{ ...first!, DesiredStatus: 'stop' }, second!],
        ...place(like('a', 1, { cpu: 201 })),
      },
      'cpu',
    ],
    ['a port', place(like('a', portOfFirst)), `network: port collision http=${portOfFirst}`],
    [
      'a port of one that is told to go',
      { stops: [stopOfFirst], ...place(like('a', portOfFirst)) },
      `network: port collision http=${portOfFirst}`,
    ],
    [
      'the port of the one that it replaces',
      { stops: [stopOfFirst], ...place(like('a', portOfFirst, { previous: first!.ID })) },
      undefined,
    ],
    ['a port of two together', place(like('a', 7), like('b', 7)), 'network: port collision http=7'],
    [
      'a reserved port',
      { node: makeNode('n1', { reservedPorts: '1-9' }), ...place(like('a', 7)) },
      'network: port collision http=7',
    ],
  ])('%s', (_, change, expected) => {
    expect(checkNode({ ...base, ...change })).toBe(expected);
  });

  test('ports that ignore collisions do so', () => {
    const ReservedPorts = [{ Label: 'http', Value: 7, IgnoreCollision: true }];
    const careless = makeJob({ TaskGroups: [makeGroup({ Networks: [{ ReservedPorts }] })] });
    const change = { ...base, ...place(like('a', 7), like('b', 7)) };
    expect(checkNode({ ...change, job: careless })).toBeUndefined();
    expect(checkNode({ ...change, job: undefined })).toBe('network: port collision http=7');
  });

  test('a core is given once', () => {
    const cores = (id: string, ReservedCores: number[]) => {
      const one = like(id, Number(id));
      const server = {
        ...one.AllocatedResources.Tasks.server!,
        Cpu: { CpuShares: 1, ReservedCores },
      };
      return { ...one, AllocatedResources: { ...one.AllocatedResources, Tasks: { server } } };
    };
    const node = makeNode('n1', { cores: [0, 1, 2] });
    const change = { ...base, node };
    expect(checkNode({ ...change, ...place(cores('1', [0]), cores('2', [1, 2])) })).toBeUndefined();
    expect(checkNode({ ...change, ...place(cores('1', [0, 1]), cores('2', [1])) })).toBe('cores');
    expect(checkNode({ ...change, ...place(cores('1', [3])) })).toBe('cores');
  });
});
