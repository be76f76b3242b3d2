import { describe, expect, test } from 'vitest';
import { makeGroup, makeJob, makeNode, makeTask, TestCluster } from '../cluster.test-helper.ts';
import { checkListed, type ListedChange } from './check.test-helper.ts';

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

const base: ListedChange = {
  node: makeNode('n1'),
  existing: [first!, second!],
  stops: [],
  placements: [],
  updates: [],
  job,
};
const place = (...placements: ListedChange['placements']) => ({ placements });

describe('in the order of the checks', () => {
  test.each<[string, Partial<ListedChange>, string | undefined]>([
    ['stops on a node that is gone', { node: undefined, stops: [stopOfFirst] }, undefined],
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
    ['CPU of two placements together', place(like('a', 1, { cpu: 101 }), like('b', 2)), 'cpu'],
    [
      'CPU of an allocation that is being stopped',
      { stops: [stopOfFirst], ...place(like('a', 1, { cpu: 201 })) },
      'cpu',
    ],
    [
      'CPU of the replaced allocation',
      { stops: [stopOfFirst], ...place(like('a', 1, { cpu: 600, previous: first!.ID })) },
      undefined,
    ],
    [
      'CPU of a replaced allocation that was stopped before',
      {
        existing: [{ ...first!, DesiredStatus: 'stop' }, second!],
        ...place(like('a', 1, { cpu: 600, previous: first!.ID })),
      },
      undefined,
    ],
    [
      'more than the replaced allocation leaves',
      { stops: [stopOfFirst], ...place(like('a', 1, { cpu: 601, previous: first!.ID })) },
      'cpu',
    ],
    [
      'the rest that a smaller replacement leaves is not free yet',
      {
        stops: [stopOfFirst],
        ...place(like('a', 1, { previous: first!.ID }), like('b', 2, { cpu: 201 })),
      },
      'cpu',
    ],
    [
      'the place of an allocation that is not stopped',
      place(like('a', 1, { cpu: 600, previous: first!.ID })),
      'cpu',
    ],
    [
      'the place of an allocation that waits for its own predecessor',
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
      'an ended allocation holds nothing',
      {
        existing: [{ ...first!, ClientStatus: 'complete' }, second!],
        ...place(like('a', portOfFirst, { cpu: 600 })),
      },
      undefined,
    ],
    [
      'a stopped allocation that still runs holds its resources',
      {
        existing: [{ ...first!, DesiredStatus: 'stop' }, second!],
        ...place(like('a', 1, { cpu: 201 })),
      },
      'cpu',
    ],
    [
      'an evicted allocation holds nothing',
      { preempted: [first!.ID], ...place(like('a', portOfFirst, { cpu: 600 })) },
      undefined,
    ],
    [
      'an eviction frees no more than the victim had',
      { preempted: [first!.ID], ...place(like('a', 1, { cpu: 601 })) },
      'cpu',
    ],
    [
      'an allocation that was evicted before holds nothing',
      {
        existing: [{ ...first!, DesiredStatus: 'evict' }, second!],
        ...place(like('a', portOfFirst, { cpu: 600 })),
      },
      undefined,
    ],
    ...(
      [
        ['is stopped', { DesiredStatus: 'stop' }],
        ['was evicted before', { DesiredStatus: 'evict' }],
        ['ended', { ClientStatus: 'failed' }],
        ['is gone', { ID: 'other' }],
      ] as const
    ).map(([title, fields]): [string, Partial<ListedChange>, string] => [
      `an allocation that ${title} cannot be evicted`,
      {
        existing: [{ ...first!, ...fields }, second!],
        preempted: [first!.ID],
        ...place(like('a', 1, { cpu: 100 })),
      },
      `allocation ${first!.ID} is not there to make way any more`,
    ]),
    ['a port', place(like('a', portOfFirst)), `network: port collision http=${portOfFirst}`],
    [
      'a port of an allocation that is being stopped',
      { stops: [stopOfFirst], ...place(like('a', portOfFirst)) },
      `network: port collision http=${portOfFirst}`,
    ],
    [
      'the port of the replaced allocation',
      { stops: [stopOfFirst], ...place(like('a', portOfFirst, { previous: first!.ID })) },
      undefined,
    ],
    [
      'a port of two placements together',
      place(like('a', 7), like('b', 7)),
      'network: port collision http=7',
    ],
    [
      'a reserved port',
      { node: makeNode('n1', { reservedPorts: '1-9' }), ...place(like('a', 7)) },
      'network: port collision http=7',
    ],
  ])('%s', (_, change, expected) => {
    expect(checkListed({ ...base, ...change })).toBe(expected);
  });

  test('ports that ignore collisions never collide', () => {
    const ReservedPorts = [{ Label: 'http', Value: 7, IgnoreCollision: true }];
    const careless = makeJob({ TaskGroups: [makeGroup({ Networks: [{ ReservedPorts }] })] });
    const change = { ...base, ...place(like('a', 7), like('b', 7)) };
    expect(checkListed({ ...change, job: careless })).toBeUndefined();
    expect(checkListed({ ...change, job: undefined })).toBe('network: port collision http=7');
  });

  test('a core is given only once', () => {
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
    expect(
      checkListed({ ...change, ...place(cores('1', [0]), cores('2', [1, 2])) }),
    ).toBeUndefined();
    expect(checkListed({ ...change, ...place(cores('1', [0, 1]), cores('2', [1])) })).toBe('cores');
    expect(checkListed({ ...change, ...place(cores('1', [3])) })).toBe('cores');
  });

  test('a device piece is given only once, and only if it exists and is healthy', () => {
    const devices = (id: string, DeviceIDs: string[]) => {
      const one = like(id, Number(id));
      const Devices = [{ Vendor: 'acme', Type: 'gpu', Name: 'a', DeviceIDs }];
      const server = { ...one.AllocatedResources.Tasks.server!, Devices };
      return { ...one, AllocatedResources: { ...one.AllocatedResources, Tasks: { server } } };
    };
    const Instances = ['x', 'y', 'z'].map((ID) => ({ ID, Healthy: ID !== 'z' }));
    const node = makeNode('n1', {
      cpu: 5000,
      memory: 5000,
      devices: [{ Vendor: 'acme', Type: 'gpu', Name: 'a', Instances }],
    });
    const change = { ...base, node };
    const both = place(devices('1', ['x']), devices('2', ['y']));
    expect(checkListed({ ...change, ...both })).toBeUndefined();
    expect(
      checkListed({ ...change, ...place(devices('1', ['x', 'y']), devices('2', ['y'])) }),
    ).toBe('devices');
    expect(checkListed({ ...change, ...place(devices('1', ['z'])) })).toBe('devices');
    expect(checkListed({ ...change, ...place(devices('1', ['w'])) })).toBe('devices');
    const holder = { ...first!, AllocatedResources: devices('3', ['x']).AllocatedResources };
    const held = { ...change, existing: [holder] };
    expect(checkListed({ ...held, ...place(devices('1', ['x'])) })).toBe('devices');
    const successor = { ...devices('1', ['x']), PreviousAllocation: first!.ID };
    expect(checkListed({ ...held, stops: [stopOfFirst], ...place(successor) })).toBeUndefined();
  });
});
