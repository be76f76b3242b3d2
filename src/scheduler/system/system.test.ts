import { describe, expect, test } from 'vitest';
import { noTransition } from '../../model/allocation/allocation.ts';
import { makeGroup, makeJob, makeNode, makeTask, TestCluster } from '../cluster.test-helper.ts';
import { descriptions } from '../view.ts';
import { changed, drained, migrate, nodesOf, on, running, system } from './system.test-helper.ts';

describe('placement', () => {
  test('runs once on every node that takes it, under a single name', () => {
    const cluster = new TestCluster([
      makeNode('n0'),
      makeNode('n1', { Datacenter: 'dc2' }),
      makeNode('n2', { NodePool: 'other' }),
      makeNode('n3', { Status: 'down' }),
      makeNode('n4', { SchedulingEligibility: 'ineligible' }),
      makeNode('n5', { Attributes: { arch: 'arm64' } }),
      makeNode('n6'),
      makeNode('n7', drained),
    ]);
    const Constraints = [{ LTarget: '${attr.arch}', Operand: '!=', RTarget: 'arm64' }];
    cluster.putJob(system({}, 0, { Datacenters: ['dc1'], Constraints }));
    const { plan, outcome } = cluster.run();
    expect(nodesOf(cluster)).toEqual(['n0', 'n6']);
    expect(plan.placements.map((one) => one.Name)).toEqual(['daemon.web[0]', 'daemon.web[0]']);
    expect(plan.annotations.web).toMatchObject({ Place: 2, Ignore: 0 });
    expect(plan.placements[0]!.Metrics).toMatchObject({ NodesEvaluated: 3, NodesFiltered: 1 });
    expect(outcome).toMatchObject({ status: 'complete', failures: null, queued: { web: 0 } });
    expect(cluster.decide().isEmpty).toBe(true);
  });

  test('count 0 is none', () => {
    expect(nodesOf(running({ Count: 0 }))).toEqual([]);
  });

  test('a node that joins gets an allocation, and so does a node that becomes eligible again', () => {
    const cluster = running();
    cluster.putNode(makeNode('n3'));
    cluster.putNode(makeNode('n4', { SchedulingEligibility: 'ineligible' }));
    cluster.run();
    expect(nodesOf(cluster)).toEqual(['n0', 'n1', 'n2', 'n3']);
    cluster.putNode(makeNode('n4'));
    const { plan } = cluster.run();
    expect(plan.placements.map((one) => one.NodeID)).toEqual(['n4']);
  });

  test('several groups share the nodes', () => {
    const cluster = new TestCluster([makeNode('n0', { cpu: 150 }), makeNode('n1')]);
    const groups = ['a', 'b'].map((Name) => makeGroup({ Name, Update: { MaxParallel: 0 } }));
    cluster.putJob(makeJob({ Type: 'system', TaskGroups: groups }));
    const { plan, outcome } = cluster.run();
    expect(plan.placements.map((one) => [one.TaskGroup, one.NodeID])).toEqual([
      ['a', 'n0'],
      ['a', 'n1'],
      ['b', 'n1'],
    ]);
    expect(outcome.queued).toEqual({ a: 0, b: 1 });
  });

  test('distinct hosts forbid a second group on the node', () => {
    const cluster = new TestCluster([makeNode('n0')]);
    const groups = ['a', 'b'].map((Name) => makeGroup({ Name, Update: { MaxParallel: 0 } }));
    const Constraints = [{ Operand: 'distinct_hosts' }];
    cluster.putJob(makeJob({ Type: 'system', Constraints, TaskGroups: groups }));
    const { plan } = cluster.run();
    expect(plan.placements.map((one) => one.TaskGroup)).toEqual(['a']);
    expect(plan.evaluations).toEqual([]);
  });

  test('a second allocation on a node is stopped', () => {
    const cluster = running({}, {}, 1);
    const [first] = cluster.live();
    cluster.putAllocation({ ...first!, ID: 'twin', CreateIndex: 9 });
    expect(cluster.run().plan.stops).toMatchObject([{ allocationId: 'twin' }]);
    expect(cluster.decide().isEmpty).toBe(true);
  });
});

describe('an allocation that does not fit', () => {
  const large = { Tasks: [makeTask({ Resources: { CPU: 600 } })] };
  const small = { cpu: 500 };

  test('an evaluation waits for each node without room', () => {
    const cluster = new TestCluster([
      makeNode('n0'),
      makeNode('n1', { ...small, NodeClass: 'small', ModifyIndex: 7 }),
      makeNode('n2', { ...small, memory: 5 }),
    ]);
    cluster.putJob(system(large));
    const { plan, outcome } = cluster.run();
    expect(nodesOf(cluster)).toEqual(['n0']);
    expect(plan.evaluations).toMatchObject([
      { Status: 'blocked', NodeID: 'n1', NodeModifyIndex: 7, SnapshotIndex: 100 },
      { Status: 'blocked', NodeID: 'n2', TriggeredBy: 'queued-allocs' },
    ]);
    expect(plan.evaluations.map((one) => one.FailedTGAllocs)).toEqual([
      outcome.failures,
      outcome.failures,
    ]);
    expect(outcome).toMatchObject({
      status: 'complete',
      queued: { web: 2 },
      awaitedNodes: ['n1', 'n2'],
    });
    expect(outcome.failures!.web).toMatchObject({
      NodesEvaluated: 3,
      NodesExhausted: 2,
      DimensionExhausted: { cpu: 2 },
      ClassExhausted: { small: 1 },
      CoalescedFailures: 1,
    });
  });

  test('the evaluation that waits for a node stays blocked until there is room', () => {
    const cluster = new TestCluster([makeNode('n0', small), makeNode('n1', small)]);
    cluster.putJob(system(large));
    const waiting = { Status: 'blocked', NodeID: 'n0' } as const;
    const again = cluster.decide(waiting);
    expect(again.isEmpty).toBe(true);
    expect(again.outcome).toMatchObject({ status: 'blocked', awaitedNodes: ['n0', 'n1'] });
    expect(again.plan.evaluations).toMatchObject([{ NodeID: 'n1' }]);
    cluster.putNode(makeNode('n0'));
    expect(cluster.run(waiting).outcome).toMatchObject({
      status: 'complete',
      awaitedNodes: ['n1'],
    });
  });

  test('one evaluation waits for many full nodes together', () => {
    const cluster = new TestCluster();
    for (let n = 0; n < 257; n++) cluster.putNode(makeNode(`n${n}`, small));
    cluster.putJob(system(large));
    const { plan, outcome } = cluster.decide();
    expect(plan.evaluations).toMatchObject([{ NodeID: '', EscapedComputedClass: true }]);
    expect(outcome).toMatchObject({ queued: { web: 257 }, awaitedNodes: [''] });
    const again = cluster.decide({ Status: 'blocked' });
    expect(again.plan.evaluations).toEqual([]);
    expect(again.outcome).toMatchObject({ status: 'blocked', escapedComputedClass: true });
  });

  test('filtered nodes are no failure, unless all nodes are filtered', () => {
    const Constraints = [{ LTarget: '${attr.x}', Operand: 'is_set' }];
    const cluster = new TestCluster([makeNode('n0'), makeNode('n1', { Attributes: { x: '1' } })]);
    cluster.putJob(system({ Constraints }));
    expect(cluster.run().outcome.failures).toBeNull();
    const other = new TestCluster([makeNode('n0')]);
    other.putJob(system({ Constraints }));
    const { outcome, plan } = other.run();
    expect(outcome.failures!.web).toMatchObject({
      NodesEvaluated: 1,
      NodesFiltered: 1,
      ConstraintFiltered: { '${attr.x} is_set': 1 },
    });
    expect(outcome.queued).toEqual({ web: 0 });
    expect(plan.evaluations).toEqual([]);
  });
});

describe('nodes that leave', () => {
  test('their allocations are lost, and placed again when the nodes come back', () => {
    const cluster = running();
    cluster.putNode(makeNode('n1', { Status: 'down' }));
    const { plan } = cluster.run();
    expect(plan.stops).toMatchObject([{ nodeId: 'n1', clientStatus: 'lost' }]);
    expect(plan.placements).toEqual([]);
    expect(cluster.decide().isEmpty).toBe(true);
    cluster.putNode(makeNode('n1'));
    expect(cluster.run().plan.placements.map((one) => one.NodeID)).toEqual(['n1']);
  });

  test('a disconnected node keeps its allocations while they may come back', () => {
    const cluster = running({ Disconnect: { LostAfter: 600e9 } });
    cluster.putNode(makeNode('n1', { Status: 'disconnected' }));
    const { plan } = cluster.run();
    expect(plan.stops).toMatchObject([{ clientStatus: 'unknown' }]);
    expect(plan.placements).toEqual([]);
    expect(plan.evaluations).toMatchObject([{ TriggeredBy: 'max-disconnect-timeout' }]);
    cluster.putNode(makeNode('n1'));
    expect(cluster.decide().isEmpty).toBe(true);
    const { ID } = cluster.allocations.find((one) => one.NodeID === 'n1')!;
    cluster.change(ID, { ClientStatus: 'running' });
    expect(cluster.run().plan.annotations.web).toMatchObject({ Reconnect: 1, Ignore: 2 });
    expect(cluster.decide().isEmpty).toBe(true);
  });

  test('nodes that take no work keep their allocations until these have to migrate', () => {
    const cluster = running();
    cluster.putNode(makeNode('n0', { SchedulingEligibility: 'ineligible' }));
    cluster.putNode(makeNode('n1', drained));
    expect(cluster.decide().isEmpty).toBe(true);
    cluster.change(on(cluster, 'n1').ID, migrate);
    const { plan } = cluster.run();
    expect(plan.stops).toMatchObject([{ nodeId: 'n1', desiredDescription: descriptions.tainted }]);
    expect(plan.annotations.web).toMatchObject({ Migrate: 1, Place: 0, Ignore: 2 });
    expect(cluster.decide().isEmpty).toBe(true);
  });

  test('an allocation stopped by a user is replaced on its node', () => {
    const cluster = running();
    const { ID } = on(cluster, 'n1');
    cluster.change(ID, migrate);
    const { plan } = cluster.run();
    expect(plan.stops).toMatchObject([{ allocationId: ID, desiredStatus: 'stop' }]);
    expect(plan.placements).toMatchObject([{ NodeID: 'n1', PreviousAllocation: ID }]);
  });

  test('a node that leaves the datacenters of the job loses its allocation', () => {
    const cluster = running({}, { Datacenters: ['dc1'] });
    cluster.putNode(makeNode('n1', { Datacenter: 'dc2' }));
    expect(cluster.run().plan.stops).toMatchObject([{ nodeId: 'n1' }]);
    expect(nodesOf(cluster)).toEqual(['n0', 'n2']);
  });
});

describe('ends', () => {
  const over = (cluster: TestCluster, ClientStatus: 'complete' | 'failed') =>
    cluster.change(on(cluster, 'n0').ID, { ClientStatus });

  test.each([
    // The report of a failure alone does not restart it: the node has used up its restarts.
    ['failed', 'alloc-failure', []],
    ['failed', 'node-update', ['n0']],
    // Its node stopped it, though nobody wants that any more.
    ['complete', 'alloc-failure', ['n0']],
    ['complete', 'node-update', ['n0']],
  ] as const)('a system job that is %s: %s', (status, TriggeredBy, nodes) => {
    const cluster = running();
    const { ID } = on(cluster, 'n0');
    over(cluster, status);
    const { plan } = cluster.run({ TriggeredBy });
    const placements = nodes.map((NodeID) => ({ NodeID, PreviousAllocation: ID }));
    expect(plan.placements).toMatchObject(placements);
    expect(plan.placements).toHaveLength(placements.length);
    expect(cluster.decide({ TriggeredBy }).isEmpty).toBe(true);
  });

  test.each(['complete', 'failed'] as const)(
    'a sysbatch job that is %s runs once for each version',
    (status) => {
      const cluster = running({}, { Type: 'sysbatch' });
      over(cluster, status);
      expect(cluster.decide({ TriggeredBy: 'node-update' }).isEmpty).toBe(true);
      cluster.putJob(system(changed('b'), 1, { Type: 'sysbatch' }));
      cluster.run();
      expect(nodesOf(cluster, 1)).toEqual(['n0', 'n1', 'n2']);
    },
  );

  test.each(['system', 'sysbatch'] as const)(
    'a failed allocation of a %s job runs again when an operator forces it',
    (Type) => {
      const cluster = running({}, { Type });
      const { ID } = on(cluster, 'n0');
      over(cluster, 'failed');
      cluster.change(ID, { DesiredTransition: { ...noTransition, ForceReschedule: true } });
      const { plan } = cluster.run({ TriggeredBy: 'alloc-failure' });
      expect(plan.stops).toMatchObject([{ desiredDescription: descriptions.rescheduled }]);
      expect(plan.placements).toMatchObject([{ NodeID: 'n0', PreviousAllocation: ID }]);
      expect(cluster.decide().isEmpty).toBe(true);
    },
  );

  test.each<[string, (cluster: TestCluster) => void]>([
    ['stopped', (cluster) => cluster.putJob({ ...system({}, 1), Stop: true })],
    ['purged', (cluster) => cluster.dropJob('job')],
    ['count 0', (cluster) => cluster.putJob(system({ Count: 0 }, 1))],
    ['without the group', (cluster) => cluster.putJob(system({ Name: 'x', Count: 0 }, 1))],
  ])('%s: everything stops', (_, end) => {
    const cluster = running();
    end(cluster);
    expect(cluster.run().plan.stops).toHaveLength(3);
    expect(cluster.live()).toEqual([]);
    expect(cluster.decide().isEmpty).toBe(true);
  });
});
