/** Tests of the checkers of placements: resources, constraints, counts and evictions. */
import { batchWorkIsDoneOnce } from './batch-work.ts';
import { blockedReasonIsTrue } from './blocked-reason.ts';
import { desiredCountsAreReached } from './desired-counts.ts';
import { onlyHigherPriorityEvicts } from './evictions.ts';
import { placementObeysConstraints } from './placements.ts';
import {
  changeNode,
  placed,
  put,
  service,
  stopped,
  testChecker,
  withDeployment,
  withEvaluation,
  withJob,
  withNode,
} from './planted.test-helper.ts';
import { noResourceTwice } from './resources.ts';

const port = (Value: number) => ({
  AllocatedResources: {
    Tasks: {},
    TaskLifecycles: {},
    Shared: {
      DiskMB: 0,
      Networks: null,
      Ports: [{ Label: 'http', Value, To: 0, HostIP: '10.0.0.1', HostNetwork: '' }],
    },
  },
});

testChecker(
  noResourceTwice,
  [
    ['allocations fit on their node', [put(placed('a'), placed('b'))], []],
    [
      'a node has too little processor',
      [put(placed('a'), placed('b'), placed('c'))],
      ['1200 MHz is wanted on name-n1, which has 1000'],
    ],
    [
      'two allocations have the same port',
      [put(placed('a', port(80)), placed('b', port(80)))],
      ['port 10.0.0.1:80 of name-n1 is held by a and b'],
    ],
  ],
  { before: [withNode('n1')] },
);

const blocked = withEvaluation({ Status: 'blocked', FailedTGAllocs: { web: {} as never } });
const system = service(1, {}, { Type: 'system', Datacenters: ['*'] });

testChecker(desiredCountsAreReached, [
  ['a service has enough', [withJob(service(2)), put(placed('0'), placed('1'))], []],
  ['a service has too few', [withJob(service(3)), put(placed('a'))], ['job.web wants 3 and has 1']],
  [
    'a service runs an older version',
    [withJob({ ...service(1), Version: 1 }), put(placed('0'))],
    ['1 of job.web are older than version 1'],
  ],
  [
    'a system job runs an older version on an ineligible node',
    [
      withNode('n1', { SchedulingEligibility: 'ineligible' }),
      withJob({ ...system, Version: 1 }),
      put(placed('a')),
    ],
    [],
  ],
  ['a service waits for room', [withJob(service(3)), blocked, put(placed('a'))], []],
  [
    'a stopped job runs',
    [withJob({ ...service(2), Stop: true }), put(placed('a'), placed('b'))],
    ['job is stopped, but 2 of its allocations run'],
  ],
  [
    'a node lacks its system job',
    [withNode('n1'), withJob(system)],
    ['job.web runs 0 times on name-n1'],
  ],
  [
    'a deployment never ends',
    [withJob(service(0)), withDeployment({ Status: 'running' })],
    ['deployment d of job is running'],
  ],
]);

const inRack = ['n1', 'n2'].map((id) => withNode(id, { Meta: { rack: 'r1' } }));
const onePerRack = { Operand: 'distinct_property', LTarget: '${meta.rack}' };
const rackTwice = ['job.web[b] was placed on name-n1, against distinct ${meta.rack}'];
const onOtherNode = put(placed('a', { NodeID: 'n2' }));
const onePerHost = { Operand: 'distinct_hosts', RTarget: 'true' };

/** Places an allocation in the rack of another one, whose node has this status. */
const rackOf = (Status: 'ready' | 'down') => [
  ...inRack,
  withJob(service(2, { Constraints: [onePerRack] })),
  onOtherNode,
  changeNode('n2', { Status }),
  put(placed('b')),
];

/** Replaces an allocation on a disconnected node in the same rack. */
const rackOfReplaced = (LostAfter: number) => [
  ...inRack,
  withJob(service(1, { Disconnect: { LostAfter }, Constraints: [onePerRack] })),
  onOtherNode,
  changeNode('n2', { Status: 'disconnected' }),
  put(placed('a', { NodeID: 'n2', NextAllocation: 'b' }), placed('b')),
];

testChecker(placementObeysConstraints, [
  ['a node fits', [withNode('n1'), withJob(service(1)), put(placed('a'))], []],
  [
    'a node is ineligible',
    [
      withNode('n1', { SchedulingEligibility: 'ineligible' }),
      withJob(service(1)),
      put(placed('a')),
    ],
    ['job.web[a] was placed on name-n1, which takes no work'],
  ],
  [
    'a node is in another pool',
    [withNode('n1', { NodePool: 'other' }), withJob(service(1)), put(placed('a'))],
    ['job.web[a] was placed on name-n1, against its constraints'],
  ],
  [
    'a host is used twice',
    [
      withNode('n1'),
      withJob(service(2, { Constraints: [onePerHost] })),
      put(placed('a')),
      put(placed('b')),
    ],
    ['job.web[b] was placed on name-n1, against distinct ${node.unique.id}'],
  ],
  ['a rack is used twice', rackOf('ready'), rackTwice],
  [
    'a host is used twice until the last part of a plan',
    [
      withNode('n1'),
      withJob(service(1, { Constraints: [onePerHost] })),
      withEvaluation({ Status: 'pending' }),
      put(placed('a')),
      put(placed('b', { EvalID: 'e' })),
      put(stopped('a')),
      withEvaluation({ Status: 'complete' }),
    ],
    [],
  ],
  [
    'a host is still used twice after the last part of a plan',
    [
      withNode('n1'),
      withJob(service(1, { Constraints: [onePerHost] })),
      withEvaluation({ Status: 'blocked' }),
      put(placed('a')),
      put(placed('b', { EvalID: 'e' })),
      withEvaluation({ Status: 'blocked', StatusDescription: 'still' }),
    ],
    ['job.web[b] was placed on name-n1, against distinct ${node.unique.id}'],
  ],
  [
    'a host is still used twice when the cluster rests',
    [
      withNode('n1'),
      withJob(service(1, { Constraints: [onePerHost] })),
      withEvaluation({ Status: 'pending' }),
      put(placed('a')),
      put(placed('b', { EvalID: 'e' })),
    ],
    ['job.web[b] was placed on name-n1, against distinct ${node.unique.id}'],
  ],
  ['the other node of the rack is down', rackOf('down'), []],
  ['the other node is disconnected, and its allocation replaced and lost', rackOfReplaced(0), []],
  ['the other node is disconnected, and its allocation replaced', rackOfReplaced(300e9), []],
  [
    'the other node is disconnected, and its allocation not replaced',
    [
      ...inRack,
      withJob(service(2, { Disconnect: { LostAfter: 300e9 }, Constraints: [onePerRack] })),
      onOtherNode,
      changeNode('n2', { Status: 'disconnected' }),
      put(placed('b')),
    ],
    rackTwice,
  ],
]);

const wanting = (CPU: number) =>
  withJob(service(1, { Tasks: [{ Name: 'server', Driver: 'raw_exec', Resources: { CPU } }] }));

testChecker(
  blockedReasonIsTrue,
  [
    ['no node has room', [wanting(2000), blocked], []],
    ['a node has room', [wanting(300), blocked], ['job.web waits for room, but name-n1 has room']],
    ['the job does not exist', [blocked], ['evaluation e of job has no job to place']],
    [
      'an evaluation is never decided',
      [withJob(service(1)), withEvaluation({ Status: 'pending' })],
      ['evaluation e of job is still pending'],
    ],
  ],
  { before: [withNode('n1')] },
);

const important = (Priority: number) =>
  withJob({ ...service(1, {}, { Type: 'system' }), ID: 'important', Priority });
const evictor = placed('high', { JobID: 'important' });
const evicted = placed('low', { DesiredStatus: 'evict', PreemptedByAllocation: 'high' });

testChecker(
  onlyHigherPriorityEvicts,
  [
    ['a job of higher priority evicts', [important(80), put(evictor, evicted)], []],
    [
      'a job of similar priority evicts',
      [important(55), put(evictor, evicted)],
      ['job.web[low] of 50 was evicted for job.web[high] of 55'],
    ],
    [
      'an allocation is evicted without reason',
      [put(evicted)],
      ['job.web[low] was evicted for no allocation'],
    ],
  ],
  { before: [withJob(service(1)), put(placed('low'))] },
);

const done = (ID: string, fields: object = {}) =>
  placed(ID, { ClientStatus: 'complete', JobCreateIndex: 1, ...fields });

testChecker(
  batchWorkIsDoneOnce,
  [
    ['all of it succeeded', [put(done('a'), done('b'))], []],
    ['a part is missing', [put(done('a'))], ['job.web succeeded 1 times and is wanted 2 times']],
    [
      'a part succeeded twice',
      [put(done('a'), done('b'), done('c', { Name: 'job.web[a]' }))],
      ['job.web: job.web[a] succeeded 2 times'],
    ],
  ],
  { before: [withJob(service(2, {}, { Type: 'batch' }))] },
);
