import { describe, expect, test } from 'vitest';
import { drained } from '../../base/steps.ts';
import type { Job } from '../../model/job/job.ts';
import { groupNamed } from '../../model/job/job-rules.ts';
import type { Input } from '../../model/schema.ts';
import {
  makeGroup,
  makeJob,
  makeNode,
  makeTask,
  type NodeWish,
  TestCluster,
} from '../cluster.test-helper.ts';
import { schedule } from '../schedule.ts';
import { schedulerDefaults } from '../view.ts';
import { decisionOf } from './explain.test-helper.ts';
import { byPreemption, explain, type NodeExplanation } from './nodes.ts';
import { explainPlacement } from './placement.ts';
import { prospects } from './prospect.ts';
import { whyNoNode } from './words.ts';

const prospectOf = (cluster: TestCluster, job: Job, group = 'web') =>
  drained(prospects(decisionOf(cluster, { Type: job.Type }), job, () => [group]))[0]!;

const words = (nodes: readonly NodeExplanation[]) => whyNoNode(nodes, ({ nodeName }) => nodeName);

describe('a node', () => {
  test('has the parts of its score, the first rule that it fails, or everything that it lacks', () => {
    const cluster = new TestCluster([
      makeNode('n1'),
      makeNode('n2', { Status: 'down' }),
      makeNode('n3', { NodePool: 'gpu' }),
      makeNode('n4', { Attributes: { 'kernel.name': 'other' } }),
      makeNode('n5', { cpu: 50, memory: 90 }),
    ]);
    const Constraints = [{ LTarget: '${attr.kernel.name}', Operand: '!=', RTarget: 'other' }];
    const job = makeJob({ Constraints });
    expect(explain(cluster, job, job.TaskGroups[0]!)).toMatchObject([
      {
        nodeId: 'n1',
        nodeName: 'name-n1',
        verdict: 'open',
        parts: { binpack: expect.any(Number) },
      },
      { nodeId: 'n2', verdict: 'excluded', rule: 'ready' },
      { nodeId: 'n3', verdict: 'excluded', rule: 'pool', text: 'node pool is not "default"' },
      { nodeId: 'n4', verdict: 'filtered', text: '${attr.kernel.name} != other' },
      {
        nodeId: 'n5',
        verdict: 'exhausted',
        lacks: [
          { dimension: 'cpu', amount: { asked: 100, free: 50, all: 50 } },
          { dimension: 'memory', amount: { asked: 100, free: 90, all: 90 } },
        ],
      },
    ]);
  });

  test('counts the predecessor’s resources as free for a replacement', () => {
    const cluster = new TestCluster([makeNode('n1', { cpu: 350 })]);
    const version = (cpu: number, number: number) =>
      makeJob(
        { TaskGroups: [makeGroup({ Tasks: [makeTask({ Resources: { CPU: cpu } })] })] },
        number,
      );
    cluster.putJob(version(300, 0));
    cluster.run();
    const job = version(500, 1);
    cluster.putJob(job);
    const { unplaced, nodes } = prospectOf(cluster, job);
    expect(unplaced).toBe(1);
    expect(nodes).toMatchObject([
      { lacks: [{ dimension: 'cpu', amount: { asked: 500, free: 350, all: 350 } }] },
    ]);
  });
});

describe('a system job', () => {
  test('is explained for each node by its own request', () => {
    const cluster = new TestCluster([
      makeNode('n1'),
      makeNode('n2', { cpu: 50 }),
      { ...makeNode('n3'), Drivers: {}, ComputedClass: 'other' },
      makeNode('n4', { Status: 'down' }),
    ]);
    const job = makeJob({ Type: 'system' });
    cluster.putJob(job);
    cluster.run({ Type: 'system' });
    const { placed, unplaced, nodes } = prospectOf(cluster, job);
    expect([placed, unplaced]).toEqual([0, 1]);
    expect(nodes).toMatchObject([
      { verdict: 'unasked', text: 'job.web[0] is on the node already' },
      { verdict: 'exhausted', lacks: [{ dimension: 'cpu' }] },
      { verdict: 'filtered', text: 'missing driver raw_exec' },
      { verdict: 'excluded' },
    ]);
    expect(words(nodes)).toBe(
      'It needs 100 MHz of CPU; the largest free is 50 MHz, on node name-n2; none has so much even when it is empty. 1 more ruled out: missing driver raw_exec (1).',
    );
  });
});

describe('in one sentence', () => {
  type Group = Parameters<typeof makeGroup>[0];
  const busy: readonly (readonly [string, NodeWish])[] = [
    ['n1', { cpu: 300 }],
    ['n2', { cpu: 250 }],
  ];
  const asks = (cpu: number): Group => ({ Tasks: [makeTask({ Resources: { CPU: cpu } })] });
  const constraint = { LTarget: '${attr.gpu}', Operand: 'is_set', RTarget: '' };

  test.each<[string, readonly (readonly [string, NodeWish])[], Group, Input<Job>, string]>([
    ['no nodes', [], {}, {}, 'There is no node at all.'],
    [
      'no candidates',
      [
        ['n1', { Status: 'down' }],
        ['n2', { NodePool: 'gpu' }],
        ['n3', { NodePool: 'gpu' }],
      ],
      {},
      {},
      'None of the 3 nodes is a candidate: node pool is not "default" (2), node is down (1).',
    ],
    [
      'no datacenter',
      [['n1', {}]],
      {},
      { Datacenters: ['dc8', 'dc9'] },
      'None of the 1 nodes is a candidate: datacenter is not one of dc8, dc9 (1).',
    ],
    [
      'every node ruled out',
      busy,
      { Constraints: [constraint] },
      {},
      'Every candidate node is ruled out: ${attr.gpu} is_set (2).',
    ],
    [
      'never',
      busy,
      asks(400),
      {},
      'It needs 400 MHz of CPU; the largest free is 300 MHz, on node name-n1; none has so much even when it is empty.',
    ],
    [
      'each node lacks another resource',
      [
        ['n1', { cpu: 50 }],
        ['n2', { memory: 50 }],
      ],
      {},
      {},
      'No node has all that it needs left: cpu (1), memory (1).',
    ],
    [
      'a port',
      [['n1', { reservedPorts: '80' }]],
      { Networks: [{ ReservedPorts: [{ Label: 'http', Value: 80 }] }] },
      {},
      'No node has all that it needs left: network: reserved port collision http=80 (1).',
    ],
    [
      'cores',
      [['n1', { cores: [0, 1] }]],
      { Tasks: [makeTask({ Resources: { Cores: 3 } })] },
      {},
      'It needs 3 cores; the largest free is 2 cores, on node name-n1; none has so much even when it is empty.',
    ],
    ['room', busy, {}, {}, ''],
  ])('%s', (_, nodes, group, fields, expected) => {
    const cluster = new TestCluster(nodes.map(([id, wanted]) => makeNode(id, wanted)));
    const job = makeJob({ ...fields, TaskGroups: [makeGroup(group)] });
    expect(words(explain(cluster, job, groupNamed(job, 'web')!))).toBe(expected);
  });

  test('resources of others count as taken', () => {
    const cluster = new TestCluster([makeNode('n1', { cpu: 300 })]);
    cluster.putJob(makeJob({ ID: 'other' }));
    cluster.run({ JobID: 'other' });
    const job = makeJob({ TaskGroups: [makeGroup(asks(250))] });
    const nodes = explain(cluster, job, job.TaskGroups[0]!);
    expect(words(nodes)).toBe(
      'It needs 250 MHz of CPU; the largest free is 200 MHz, on node name-n1.',
    );
    // A reader who may not see the node learns nothing of its resources.
    expect(whyNoNode(nodes, () => undefined)).toBe(
      'It needs 250 MHz of CPU; no node has that left.',
    );
  });
});

test('metrics hold the time of a group’s first placement', () => {
  const cluster = new TestCluster([makeNode('n1')]);
  cluster.putJob(makeJob({ TaskGroups: [makeGroup({ Count: 2 })] }));
  let elapsed = 0;
  const elapsedNs = () => {
    elapsed += 1000;
    return elapsed;
  };
  const { evaluation, nowMs } = decisionOf(cluster);
  const ids = { uuid: () => `id-${elapsed++}` };
  const { plan } = schedule(cluster, evaluation, { nowMs, ids, elapsedNs });
  expect(plan.placements.map(({ Metrics }) => Metrics!.AllocationTime)).toEqual([1000, 1000]);
});

describe('with evictions', () => {
  const full = () => {
    const cluster = new TestCluster([makeNode('n1'), makeNode('n2'), makeNode('n3', { cpu: 400 })]);
    const preemption = { ...schedulerDefaults.preemption, service: true };
    cluster.configuration = { ...schedulerDefaults, preemption };
    const group = (Count: number, CPU: number) =>
      makeGroup({ Count, Tasks: [makeTask({ Resources: { CPU } })] });
    cluster.putJob(makeJob({ ID: 'low', Priority: 20, TaskGroups: [group(1, 900)] }));
    cluster.run({ JobID: 'low' });
    cluster.putJob(makeJob({ ID: 'less', Priority: 10, TaskGroups: [group(1, 900)] }));
    cluster.run({ JobID: 'less' });
    const job = makeJob({ Priority: 80, TaskGroups: [group(2, 800)] });
    return { cluster, job };
  };

  test('the chosen node is the best of all nodes with victims, and each is explained', () => {
    const { cluster, job } = full();
    cluster.putJob(job);
    const { plan } = cluster.decide();
    expect(plan.preemptions).toHaveLength(2);
    for (const [position, { NodeID, PreemptedAllocations, Metrics }] of plan.placements.entries()) {
      const found = drained(explainPlacement(decisionOf(cluster), position))!;
      expect(found.chosenId).toBe(NodeID);
      const [best] = byPreemption(found.nodes);
      expect(best).toMatchObject({
        nodeId: NodeID,
        lacks: [{ dimension: 'cpu' }],
        preemption: { victims: PreemptedAllocations },
      });
      if (position > 0) continue;
      const { score, parts } = best!.preemption;
      expect(Metrics!.ScoreMetaData![0]).toEqual({ NodeID, Scores: parts, NormScore: score });
      expect(found.nodes.find(({ nodeId }) => nodeId === 'n3')).not.toHaveProperty('preemption');
    }
  });

  test('a further allocation is explained, except for jobs that may not evict', () => {
    const { cluster, job } = full();
    const ways = () => byPreemption(explain(cluster, job, job.TaskGroups[0]!));
    expect(ways().map(({ preemption }) => preemption.victims.length)).toEqual([1, 1]);
    cluster.configuration = schedulerDefaults;
    expect(ways()).toEqual([]);
  });
});
