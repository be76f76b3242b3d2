import { describe, expect, test } from 'vitest';
import { noTransition } from '../../model/allocation/allocation.ts';
import type { Deployment } from '../../model/deployment/deployment.ts';
import { deploymentDescriptions as told } from '../../model/deployment/descriptions.ts';
import { makeGroup, makeJob, makeNode, makeTask, TestCluster } from '../cluster.test-helper.ts';
import {
  changed,
  type Group,
  names,
  newest,
  ofVersion,
  rolledOut,
  set,
  web,
} from './rollout.test-helper.ts';

describe('when a deployment is made', () => {
  const steps = { Count: 3, Update: { MaxParallel: 1 } };

  test('for the first version, with all allocations at once', () => {
    const cluster = new TestCluster([makeNode('n0')]);
    const Update = { MaxParallel: 2, AutoRevert: true, ProgressDeadline: 900e9 };
    cluster.putJob(web({ Count: 3, Update }));
    const { plan, isEmpty } = cluster.decide({ Priority: 70 });
    expect(isEmpty).toBe(false);
    expect(plan.deployment).toMatchObject({
      Namespace: 'default',
      JobID: 'job',
      JobVersion: 0,
      JobModifyIndex: 10,
      JobSpecModifyIndex: 10,
      JobCreateIndex: 10,
      Status: 'running',
      StatusDescription: told.running,
      EvalPriority: 70,
      TaskGroups: {
        web: {
          AutoRevert: true,
          AutoPromote: false,
          Promoted: false,
          PlacedCanaries: [],
          DesiredCanaries: 0,
          DesiredTotal: 3,
          PlacedAllocs: 0,
          ProgressDeadline: 900e9,
          RequireProgressBy: null,
        },
      },
    });
    expect(plan.placements.map((one) => one.DeploymentID)).toEqual(
      Array(3).fill(plan.deployment!.ID),
    );
    expect(plan.placements.map((one) => one.DeploymentStatus)).toEqual([null, null, null]);
  });

  test.each<[string, Group, number | undefined]>([
    ['nothing changed', steps, undefined],
    ['a destructive change', { ...steps, ...changed('b') }, 3],
    ['a change in place', { ...steps, Tasks: [makeTask({ KillTimeout: 9e9 })] }, 3],
    ['more', { ...steps, Count: 5 }, 5],
    ['fewer', { ...steps, Count: 2 }, undefined],
    ['none', { ...steps, Count: 0 }, undefined],
    ['a lower count, and another change', { ...steps, Count: 2, ShutdownDelay: 1e9 }, 2],
    ['a job without steps', { ...steps, Update: { MaxParallel: 0 }, ...changed('b') }, undefined],
  ])('%s', (_, group, total) => {
    const cluster = rolledOut(steps);
    const isSame = group === steps;
    cluster.putJob(web(group, isSame ? 0 : 1));
    const { plan } = cluster.decide();
    expect(plan.deployment?.TaskGroups.web?.DesiredTotal).toBe(total);
  });

  test('not for batch jobs, and not again for lost allocations', () => {
    const batch = rolledOut({ Count: 2, Update: null }, { Type: 'batch' });
    expect(batch.deployments).toEqual([]);
    const cluster = rolledOut({ Count: 1 });
    cluster.putNode(makeNode(cluster.live()[0]!.NodeID, { Status: 'down' }));
    const { plan } = cluster.run();
    expect([plan.placements.length, plan.deployment]).toEqual([1, null]);
    expect(plan.placements[0]!.DeploymentID).toBe('');
  });

  test('for all groups whose version changes', () => {
    const groups = (value: string) =>
      ['a', 'b'].map((Name) => makeGroup({ Name, ...(Name === 'a' ? changed(value) : {}) }));
    const cluster = new TestCluster([makeNode('n0')]);
    cluster.putJob(makeJob({ TaskGroups: groups('1') }));
    cluster.run();
    expect(Object.keys(newest(cluster).TaskGroups)).toEqual(['a', 'b']);
    cluster.allHealthy();
    cluster.run();
    cluster.putJob(makeJob({ TaskGroups: groups('2') }, 1));
    const { plan } = cluster.run();
    // The health of the other allocation is judged again.
    expect(plan.deployment!.TaskGroups).toMatchObject({
      a: { DesiredTotal: 1 },
      b: { DesiredTotal: 1 },
    });
    expect(plan.inPlaceUpdates).toMatchObject([
      { TaskGroup: 'b', DeploymentID: plan.deployment!.ID, DeploymentStatus: null },
    ]);
  });
});

describe('the end of a deployment', () => {
  test('is successful once all allocations are healthy and nothing is left to do', () => {
    const cluster = new TestCluster([makeNode('n0')]);
    cluster.putJob(web({ Count: 2 }));
    cluster.run();
    expect(cluster.decide().isEmpty).toBe(true);
    const [first, second] = cluster.live();
    cluster.report(first!.ID, true);
    expect(cluster.decide().isEmpty).toBe(true);
    cluster.report(second!.ID, true);
    const { plan, isEmpty } = cluster.run();
    expect(isEmpty).toBe(false);
    expect(plan.deploymentUpdates).toEqual([
      { ID: newest(cluster).ID, Status: 'successful', StatusDescription: told.successful },
    ]);
    expect(cluster.decide().isEmpty).toBe(true);
  });

  test('does not come while the replacement of a healthy allocation is not healthy', () => {
    const cluster = new TestCluster([makeNode('n0'), makeNode('n1')]);
    cluster.putJob(web({ Count: 1 }));
    cluster.run();
    cluster.allHealthy();
    cluster.putNode(makeNode('n0', { Status: 'down' }));
    cluster.run();
    expect(newest(cluster).TaskGroups.web).toMatchObject({ PlacedAllocs: 2, HealthyAllocs: 1 });
    expect(cluster.decide().plan.deploymentUpdates).toEqual([]);
    cluster.allHealthy();
    expect(cluster.decide().plan.deploymentUpdates).toMatchObject([{ Status: 'successful' }]);
  });

  test('does not come while a request waits for room', () => {
    const cluster = new TestCluster([makeNode('n0', { cpu: 100 })]);
    cluster.putJob(web({ Count: 2 }));
    cluster.run();
    cluster.allHealthy();
    expect(cluster.decide().plan.deploymentUpdates).toEqual([]);
  });

  test.each<[string, (cluster: TestCluster) => void, string]>([
    ['stopped', (cluster) => cluster.putJob({ ...web({}, 1), Stop: true }), told.jobStopped],
    ['gone', (cluster) => cluster.dropJob('job'), told.jobStopped],
    ['newer', (cluster) => cluster.putJob(web({}, 1)), told.newerVersion],
  ])('is cancelled with a job that is %s', (_, change, description) => {
    const cluster = new TestCluster([makeNode('n0')]);
    cluster.putJob(web());
    cluster.run();
    const { ID } = newest(cluster);
    change(cluster);
    const { plan } = cluster.run();
    expect(plan.deploymentUpdates).toEqual([
      { ID, Status: 'cancelled', StatusDescription: description },
    ]);
    expect(cluster.decide().plan.deploymentUpdates).toEqual([]);
  });
});

describe('steps', () => {
  const group = (value: string, fields: Group = {}): Group => ({
    Count: 5,
    Update: { MaxParallel: 2 },
    ...changed(value),
    ...fields,
  });
  const started = (fields: Group = {}) => {
    const cluster = rolledOut(group('a'));
    cluster.putJob(web(group('b', fields), 1));
    return cluster;
  };

  test('come in batches by name, each when the batch before is healthy', () => {
    const cluster = started();
    const first = cluster.run();
    expect(first.plan.annotations.web).toMatchObject({ DestructiveUpdate: 2, Ignore: 3, Place: 0 });
    expect(ofVersion(cluster, 1)).toEqual(names(0, 1));
    expect(cluster.decide().isEmpty).toBe(true);
    cluster.report(cluster.named('job.web[0]').ID, true);
    cluster.run();
    expect(ofVersion(cluster, 1)).toEqual(names(0, 1, 2));
    cluster.allHealthy();
    cluster.run();
    expect(ofVersion(cluster, 1)).toEqual(names(0, 1, 2, 3, 4));
    cluster.allHealthy();
    expect(cluster.decide().plan.deploymentUpdates).toMatchObject([{ Status: 'successful' }]);
  });

  test('do not come while an allocation of the deployment is unhealthy', () => {
    const cluster = started();
    cluster.run();
    cluster.report(cluster.named('job.web[0]').ID, true);
    cluster.report(cluster.named('job.web[1]').ID, false);
    expect(cluster.decide().isEmpty).toBe(true);
  });

  test('allocations that do not run go first', () => {
    const cluster = started();
    cluster.fail(cluster.named('job.web[4]').ID);
    cluster.run();
    expect(ofVersion(cluster, 1)).toEqual(names(0, 4));
  });

  test('placements for other reasons count in the batch', () => {
    const cluster = started({ Count: 6 });
    cluster.run();
    expect(ofVersion(cluster, 1)).toEqual(names(0, 5));
  });

  test('changes in place happen at once, without batches', () => {
    const cluster = rolledOut(group('a'));
    cluster.putJob(web({ ...group('a'), ShutdownDelay: 1e9 }, 1));
    const { plan } = cluster.run();
    expect(plan.inPlaceUpdates.map((one) => [one.DeploymentID, one.DeploymentStatus])).toEqual(
      Array(5).fill([newest(cluster).ID, null]),
    );
    expect(newest(cluster).TaskGroups.web!.PlacedAllocs).toBe(5);
  });

  test('a failed allocation of the deployment stays until the deployment watcher marks it', () => {
    const cluster = started();
    cluster.run();
    const { ID } = cluster.named('job.web[0]');
    cluster.fail(ID, cluster.nowMs - 60_000);
    expect(cluster.decide().isEmpty).toBe(true);
    cluster.change(ID, { DesiredTransition: { ...noTransition, Reschedule: true } });
    const { plan } = cluster.run();
    expect(plan.placements).toMatchObject([
      { PreviousAllocation: ID, DeploymentID: newest(cluster).ID, JobVersion: 1 },
    ]);
  });

  test('a failure after the deployment is rescheduled as usual', () => {
    const cluster = rolledOut(group('a'));
    cluster.fail(cluster.named('job.web[0]').ID, cluster.nowMs - 60_000);
    expect(cluster.decide().plan.placements).toHaveLength(1);
  });

  test('a lost allocation is replaced by the new version', () => {
    const cluster = started();
    cluster.run();
    const lost = cluster.named('job.web[4]');
    cluster.putNode(makeNode(lost.NodeID, { Status: 'down' }));
    const { plan } = cluster.run();
    const replaced = plan.placements.find((one) => one.PreviousAllocation === lost.ID);
    expect(replaced).toMatchObject({ JobVersion: 1, DeploymentID: newest(cluster).ID });
  });

  test.each<[string, Partial<Deployment>, boolean]>([
    ['paused', { Status: 'paused' }, true],
    ['failed', { Status: 'failed' }, false],
  ])(
    'a %s deployment places nothing new, but lost and failed allocations are replaced',
    (_, fields, joins) => {
      const cluster = started({ Count: 6 });
      cluster.run();
      cluster.allHealthy();
      set(cluster, fields);
      expect(cluster.decide().isEmpty).toBe(true);
      const lost = [cluster.named('job.web[0]'), cluster.named('job.web[3]')];
      for (const { ID } of lost) cluster.change(ID, { NodeID: 'gone' });
      cluster.fail(cluster.named('job.web[4]').ID, cluster.nowMs - 60_000);
      const { plan } = cluster.run();
      expect(
        plan.placements.map((one) => [one.Name, one.JobVersion, one.DeploymentID]).sort(),
      ).toEqual([
        ['job.web[0]', 1, joins ? newest(cluster).ID : ''],
        ['job.web[3]', 0, ''],
        ['job.web[4]', 0, ''],
      ]);
    },
  );

  test('a successful deployment delays nothing', () => {
    const cluster = rolledOut(group('a'));
    const { ID } = cluster.named('job.web[0]');
    cluster.change(ID, { JobVersion: 7 });
    expect(cluster.decide().plan).toMatchObject({ deployment: null, placements: [{}] });
  });
});
