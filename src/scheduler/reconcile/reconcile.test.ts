import { describe, expect, test } from 'vitest';
import { noTransition } from '../../model/allocation/allocation.ts';
import type { JobInput } from '../../model/job/job.ts';
import { makeNode, makeTask, TestCluster } from '../cluster.test-helper.ts';
import { descriptions } from '../view.ts';
import { changedTask, type Group, names, running, web } from '../web-job.test-helper.ts';

const migrate = { DesiredTransition: { ...noTransition, Migrate: true } };

describe('counts and names', () => {
  test('a new job gets its count, named from 0', () => {
    const cluster = running({ Count: 3 });
    expect(cluster.liveNames()).toEqual(names(0, 1, 2));
    expect(cluster.live()[0]).toMatchObject({
      EvalID: 'evaluation-1',
      JobVersion: 0,
      JobCreateIndex: 10,
      NodeName: 'name-n0',
      PreviousAllocation: '',
      RescheduleTracker: null,
    });
  });

  test('a satisfied job changes nothing', () => {
    const result = running({ Count: 3 }).decide();
    expect(result.isEmpty).toBe(true);
    expect(result.plan.evaluations).toEqual([]);
    expect(result.plan.annotations.web).toMatchObject({ Ignore: 3, Place: 0, Stop: 0 });
    expect(result.outcome).toMatchObject({
      status: 'complete',
      failures: null,
      queued: { web: 0 },
    });
  });

  test('a lower count stops the highest indexes and updates the others in place', () => {
    const cluster = running({ Count: 4 });
    cluster.putJob(web({ Count: 2 }, 1));
    const { plan } = cluster.run();
    expect(cluster.liveNames()).toEqual(names(0, 1));
    expect(plan.stops.map((stop) => stop.desiredDescription)).toEqual([
      descriptions.notNeeded,
      descriptions.notNeeded,
    ]);
    expect(plan.annotations.web).toMatchObject({ Stop: 2, InPlaceUpdate: 2, Place: 0 });
  });

  test('a higher count takes the lowest free indexes', () => {
    const cluster = running({ Count: 3 });
    cluster.change(cluster.named('job.web[1]').ID, { DesiredStatus: 'stop' });
    cluster.putJob(web({ Count: 4 }, 1));
    cluster.run();
    expect(cluster.liveNames()).toEqual(names(0, 1, 2, 3));
  });

  test('a duplicate name is stopped before the highest index, first its older version', () => {
    const cluster = running({ Count: 3 });
    const original = cluster.named('job.web[0]');
    cluster.putAllocation({ ...original, ID: 'twin', JobVersion: 7 });
    cluster.run();
    expect(cluster.liveNames()).toEqual(names(0, 1, 2));
    expect(cluster.named('job.web[0]').ID).toBe(original.ID);
  });

  test('a replaced duplicate gets a name of its own', () => {
    const cluster = running({ Count: 2 });
    cluster.change(cluster.named('job.web[1]').ID, { Name: 'job.web[0]' });
    cluster.putJob(web({ Count: 2, ...changedTask }, 1));
    cluster.run();
    expect(cluster.liveNames()).toEqual(names(0, 1));
  });

  test('allocations that must move are stopped first when there are too many', () => {
    const cluster = running({ Count: 3 });
    cluster.change(cluster.named('job.web[0]').ID, migrate);
    cluster.putJob(web({ Count: 2 }, 1));
    const { plan } = cluster.run();
    expect(cluster.liveNames()).toEqual(names(1, 2));
    expect(plan.placements).toEqual([]);
  });
});

describe('the end of jobs and groups', () => {
  test.each<[string, (cluster: TestCluster) => void]>([
    ['stopped', (cluster) => cluster.putJob({ ...web({ Count: 2 }, 1), Stop: true })],
    ['purged', (cluster) => cluster.dropJob('job')],
    ['count 0', (cluster) => cluster.putJob(web({ Count: 0 }, 1))],
    ['group removed', (cluster) => cluster.putJob(web({ Name: 'other', Count: 0 }, 1))],
    [
      'now a pattern',
      (cluster) =>
        cluster.putJob({
          ...web(),
          ParameterizedJob: { Payload: 'optional', MetaRequired: null, MetaOptional: null },
        }),
    ],
  ])('%s: everything stops', (_, end) => {
    const cluster = running({ Count: 2 });
    end(cluster);
    const { plan } = cluster.run();
    expect(plan.stops.map((stop) => stop.desiredStatus)).toEqual(['stop', 'stop']);
    expect(plan.annotations.web ?? { Stop: 2 }).toMatchObject({ Stop: 2 });
    expect(cluster.live()).toEqual([]);
    expect(cluster.decide().isEmpty).toBe(true);
  });

  test('allocations on a node that is gone are lost, whether stopped before or not', () => {
    const cluster = running({ Count: 2 }, {}, 1);
    cluster.putJob({ ...web({ Count: 2 }, 1), Stop: true });
    cluster.change(cluster.allocations[0]!.ID, { DesiredStatus: 'stop' });
    cluster.putNode(makeNode('n0', { Status: 'down' }));
    cluster.run();
    expect(cluster.allocations.map((one) => one.ClientStatus)).toEqual(['lost', 'lost']);
    expect(cluster.decide().isEmpty).toBe(true);
  });
});

describe('updates', () => {
  test('in place: node, ports and id stay', () => {
    const Networks = [{ DynamicPorts: [{ Label: 'http' }] }];
    const cluster = running({ Count: 2, Networks });
    const before = cluster.live();
    const Tasks = [makeTask({ KillTimeout: 9e9, Lifecycle: null })];
    cluster.putJob(web({ Count: 2, Networks, Tasks }, 1));
    const { plan } = cluster.run({ ID: 'evaluation-2' });
    expect(plan.stops).toEqual([]);
    expect(plan.placements).toEqual([]);
    expect(cluster.live()).toEqual(
      before.map((one) => ({
        ...one,
        EvalID: 'evaluation-2',
        JobVersion: 1,
        DesiredDescription: descriptions.inPlace,
      })),
    );
    expect(cluster.decide().isEmpty).toBe(true);
  });

  test('destructive: stopped and placed under the same name', () => {
    const cluster = running({ Count: 2 });
    const before = cluster.live();
    cluster.putJob(web({ Count: 2, ...changedTask }, 1));
    const { plan } = cluster.run();
    expect(plan.stops.map((stop) => stop.desiredDescription)).toEqual([
      descriptions.updating,
      descriptions.updating,
    ]);
    expect(plan.placements.map((one) => [one.Name, one.PreviousAllocation])).toEqual(
      before.map((one) => [one.Name, one.ID]),
    );
    expect(plan.annotations.web).toMatchObject({ DestructiveUpdate: 2, Ignore: 0, Stop: 0 });
  });

  test.each<[string, Group, JobInput]>([
    ['a constraint fails', { Constraints: [{ LTarget: '${attr.x}', Operand: 'is_set' }] }, {}],
    ['the datacenter is not wanted', {}, { Datacenters: ['dc9'] }],
    ['the pool is not wanted', {}, { NodePool: 'gpu' }],
  ])('%s: moves once there is a place', (_, group, fields) => {
    const cluster = running({ Count: 1 });
    cluster.putJob(web({ Count: 1, ...group }, 1, fields));
    const { plan } = cluster.decide();
    expect([plan.stops, plan.placements, plan.inPlaceUpdates]).toEqual([[], [], []]);
    expect(plan.queued).toEqual({ web: 1 });
    const NodePool = fields.NodePool ?? 'default';
    const other = { Attributes: { x: '1' }, Datacenter: 'dc9', NodePool };
    cluster.putNode(makeNode('other', other));
    cluster.run();
    expect(cluster.live().map((one) => [one.NodeID, one.JobVersion])).toEqual([['other', 1]]);
  });

  test('a node that takes no new work keeps allocations updated in place', () => {
    const cluster = running({ Count: 1 }, {}, 1);
    cluster.putNode(makeNode('n0', { SchedulingEligibility: 'ineligible' }));
    cluster.putJob(web({ Count: 1, Constraints: [] }, 1, { Priority: 60 }));
    expect(cluster.decide().plan.inPlaceUpdates).toHaveLength(1);
  });

  test('distinct hosts are reached by moving as few allocations as possible', () => {
    const cluster = running({ Count: 2 });
    cluster.change(cluster.named('job.web[1]').ID, { NodeID: 'n0' });
    cluster.change(cluster.named('job.web[0]').ID, { NodeID: 'n0' });
    cluster.putJob(web({ Count: 2, Constraints: [{ Operand: 'distinct_hosts' }] }, 1));
    const { plan } = cluster.run();
    expect(plan.inPlaceUpdates.map((one) => one.Name)).toEqual(names(0));
    expect(plan.placements.map((one) => one.NodeID)).toEqual(['n1']);
  });

  test('allocations of an earlier registration are stopped at once, whatever the strategy', () => {
    const Update = { MaxParallel: 1, Canary: 1 };
    const cluster = running({ Count: 2, Update });
    const before = cluster.live().map(({ ID }) => ID);
    cluster.putJob(web({ Count: 2, Update }, 0, {}, 20));
    const { plan } = cluster.decide();
    expect(plan.stops.map((one) => one.allocationId).sort()).toEqual([...before].sort());
    expect(plan.annotations.web).toMatchObject({ Stop: 2, Place: 2, DestructiveUpdate: 0 });
    expect(plan.placements.map((one) => one.PreviousAllocation)).toEqual(['', '']);
  });

  test('an allocation of a forgotten version is replaced', () => {
    const other = running({ Count: 1 });
    other.change(other.live()[0]!.ID, { JobVersion: 3 });
    other.putJob(web({ Count: 1 }, 5));
    expect(other.decide().plan.annotations.web).toMatchObject({ DestructiveUpdate: 1 });
  });

  test('a static port is handed over on the same node', () => {
    const Networks = [{ ReservedPorts: [{ Label: 'http', Value: 8080 }] }];
    const cluster = running({ Count: 1, Networks }, {}, 1);
    cluster.putJob(web({ Count: 1, Networks, ...changedTask }, 1));
    const { plan } = cluster.decide();
    expect(plan.placements).toHaveLength(1);
    expect(plan.failures).toEqual({});
  });

  test('a full node is updated one by one within its own resources', () => {
    const Tasks = (Env: Record<string, string>) => [makeTask({ Env, Resources: { CPU: 500 } })];
    const cluster = running({ Count: 2, Tasks: Tasks({}) }, {}, 1);
    cluster.putJob(web({ Count: 2, Tasks: Tasks({ A: 'b' }) }, 1));
    cluster.run();
    expect(cluster.live().map((one) => [one.Name, one.JobVersion])).toEqual([
      ['job.web[0]', 1],
      ['job.web[1]', 1],
    ]);
  });

  test('allocations whose update finds no node keep their resources', () => {
    const Tasks = (CPU: number) => [makeTask({ Resources: { CPU } })];
    const cluster = running({ Count: 2, Tasks: Tasks(500) }, {}, 1);
    cluster.putJob(web({ Count: 2, Tasks: Tasks(700) }, 1));
    const { plan } = cluster.decide();
    expect([plan.stops, plan.placements]).toEqual([[], []]);
    expect(plan.queued).toEqual({ web: 2 });
  });

  test('an update without a node leaves its predecessor running', () => {
    const cluster = running({ Count: 1 }, {}, 1);
    const Tasks = [makeTask({ Resources: { CPU: 5000 } })];
    cluster.putJob(web({ Count: 1, Tasks }, 1));
    const { plan, outcome } = cluster.run();
    expect(plan.stops).toEqual([]);
    expect(outcome.failures?.web?.DimensionExhausted).toEqual({ cpu: 1 });
    expect(cluster.live()[0]!.JobVersion).toBe(0);
  });
});

describe('nodes that leave', () => {
  test.each<[string, (cluster: TestCluster) => void]>([
    ['down', (cluster) => cluster.putNode(makeNode('n0', { Status: 'down' }))],
    ['gone', (cluster) => cluster.dropNode('n0')],
    [
      'disconnected, not waited for',
      (cluster) => cluster.putNode(makeNode('n0', { Status: 'disconnected' })),
    ],
  ])('%s: lost and replaced under the same name', (_, lose) => {
    const cluster = running({ Count: 2 });
    const lost = cluster.live().filter((one) => one.NodeID === 'n0');
    lose(cluster);
    const { plan } = cluster.run();
    expect(lost.length).toBeGreaterThan(0);
    expect(plan.stops).toEqual(
      lost.map((one) => ({
        allocationId: one.ID,
        nodeId: 'n0',
        desiredStatus: 'stop',
        desiredDescription: descriptions.lost,
        clientStatus: 'lost',
      })),
    );
    expect(plan.placements.map((one) => [one.Name, one.PreviousAllocation])).toEqual(
      lost.map((one) => [one.Name, one.ID]),
    );
    expect(cluster.liveNames()).toEqual(names(0, 1));
    expect(cluster.decide().isEmpty).toBe(true);
  });

  test('Replace=false: a running allocation is unknown and not replaced, a pending one is lost', () => {
    const cluster = running({ Count: 2, Disconnect: { Replace: false } }, {}, 1);
    cluster.change(cluster.named('job.web[1]').ID, { ClientStatus: 'pending' });
    cluster.putNode(makeNode('n0', { Status: 'down' }));
    const { plan } = cluster.run();
    expect(plan.stops.map((stop) => [stop.desiredStatus, stop.clientStatus])).toEqual([
      ['run', 'unknown'],
      ['stop', 'lost'],
    ]);
    expect(plan.queued).toEqual({ web: 1 });
    expect(cluster.decide().isEmpty).toBe(true);
  });

  test('distinct rules go on counting an unknown allocation', () => {
    const rack = (name: string) => ({ Meta: { rack: name } });
    const Constraints = [{ LTarget: '${meta.rack}', Operand: 'distinct_property', RTarget: '1' }];
    const job = web({ Count: 2, Constraints, Disconnect: { Replace: false } });
    const cluster = new TestCluster([makeNode('n0', rack('r0')), makeNode('n1', rack('r1'))]);
    cluster.putJob(job);
    cluster.run();
    cluster.putNode(makeNode('n0', { ...rack('r0'), Status: 'down' }));
    cluster.putNode(makeNode('n1', { ...rack('r1'), Status: 'down' }));
    cluster.change(cluster.named('job.web[1]').ID, { ClientStatus: 'pending' });
    cluster.putNode(makeNode('n2', rack('r0')));
    cluster.putNode(makeNode('n3', rack('r1')));
    expect(cluster.decide().plan.placements.map((one) => one.NodeID)).toEqual(['n3']);
  });

  test('lost allocations beyond the count are not replaced', () => {
    const cluster = running({ Count: 4 }, {}, 1);
    cluster.putNode(makeNode('n0', { Status: 'down' }));
    cluster.putNode(makeNode('n1'));
    cluster.putJob(web({ Count: 1 }, 1));
    cluster.run();
    expect(cluster.liveNames()).toEqual(names(0));
  });

  test('migrating allocations are stopped and placed elsewhere', () => {
    const cluster = running({ Count: 1 });
    const [before] = cluster.live();
    cluster.putNode(makeNode('n0', { Drain: true, SchedulingEligibility: 'ineligible' }));
    expect(cluster.decide().isEmpty).toBe(true);
    cluster.change(before!.ID, migrate);
    const { plan } = cluster.run();
    expect(plan.stops).toMatchObject([{ desiredDescription: descriptions.migrating }]);
    expect(cluster.live()).toMatchObject([
      { Name: 'job.web[0]', NodeID: 'n1', PreviousAllocation: before!.ID },
    ]);
  });
});

describe('batch and service ends', () => {
  test('completed batch allocations stay done; a new version starts over', () => {
    const cluster = running({ Count: 2 }, { Type: 'batch' });
    cluster.change(cluster.named('job.web[0]').ID, { ClientStatus: 'complete' });
    expect(cluster.decide().isEmpty).toBe(true);
    cluster.putJob(web({ Count: 2 }, 1, { Type: 'batch' }));
    cluster.run();
    expect(
      cluster
        .live()
        .map((one) => [one.Name, one.JobVersion])
        .sort(),
    ).toEqual([
      ['job.web[0]', 1],
      ['job.web[1]', 1],
    ]);
  });

  test('a service that ended is placed again', () => {
    const cluster = running({ Count: 2 });
    cluster.change(cluster.named('job.web[0]').ID, { ClientStatus: 'complete' });
    cluster.run();
    expect(cluster.liveNames()).toEqual(names(0, 1));
  });
});
