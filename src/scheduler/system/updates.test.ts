import { describe, expect, test } from 'vitest';
import type { Deployment } from '../../model/deployment/deployment.ts';
import { deploymentDescriptions as told } from '../../model/deployment/descriptions.ts';
import { makeNode, makeTask, TestCluster } from '../cluster.test-helper.ts';
import { descriptions } from '../view.ts';
import { changed, type Group, nodesOf, running, system } from './system.test-helper.ts';

describe('updates', () => {
  const steps = { Update: { MaxParallel: 1 } };
  const newest = (cluster: TestCluster): Deployment => cluster.deployments.at(-1)!;
  const rolledOut = (group: Group = steps, nodeCount = 3) => {
    const cluster = running({ ...group, ...changed('a') }, {}, nodeCount);
    cluster.allHealthy();
    cluster.run();
    expect(newest(cluster).Status).toBe('successful');
    return cluster;
  };

  test('without steps, all allocations are updated at once, each on its node', () => {
    const cluster = running();
    cluster.putJob(system(changed('b'), 1));
    const { plan } = cluster.run();
    expect(plan.annotations.web).toMatchObject({ DestructiveUpdate: 3, Place: 0, Ignore: 0 });
    expect(plan.stops.map((stop) => stop.desiredDescription)).toEqual(
      Array(3).fill(descriptions.updating),
    );
    expect(nodesOf(cluster, 1)).toEqual(['n0', 'n1', 'n2']);
  });

  test('updates are in place if possible', () => {
    const cluster = running();
    cluster.putJob(system({ ShutdownDelay: 1e9 }, 1));
    const { plan } = cluster.run();
    expect(plan.inPlaceUpdates).toHaveLength(3);
    expect(plan.annotations.web).toMatchObject({ InPlaceUpdate: 3, Ignore: 0 });
  });

  test('a full node is updated within its own resources', () => {
    const Tasks = (value: string) => [makeTask({ Env: { A: value }, Resources: { CPU: 900 } })];
    const cluster = running({ Tasks: Tasks('a') });
    cluster.putJob(system({ Tasks: Tasks('b') }, 1));
    cluster.run();
    expect(nodesOf(cluster, 1)).toEqual(['n0', 'n1', 'n2']);
  });

  test('a node that fails the new rules loses its allocation; a node that takes no work keeps it', () => {
    const cluster = running();
    cluster.putNode(makeNode('n0', { Attributes: { x: '1' } }));
    cluster.putNode(
      makeNode('n1', { Attributes: { x: '1' }, SchedulingEligibility: 'ineligible' }),
    );
    const Constraints = [{ LTarget: '${attr.x}', Operand: 'is_set' }];
    cluster.putJob(system({ Constraints, ...changed('b') }, 1));
    cluster.run();
    expect(nodesOf(cluster, 1)).toEqual(['n0']);
    expect(nodesOf(cluster, 0)).toEqual(['n1']);
  });

  test('in steps: node by node, each when the node before is healthy', () => {
    const cluster = rolledOut();
    cluster.putJob(system({ ...steps, ...changed('b') }, 1));
    cluster.run();
    expect(newest(cluster).TaskGroups.web).toMatchObject({ DesiredTotal: 3, DesiredCanaries: 0 });
    expect(nodesOf(cluster, 1)).toEqual(['n0']);
    expect(cluster.decide().isEmpty).toBe(true);
    cluster.allHealthy();
    cluster.run();
    expect(nodesOf(cluster, 1)).toEqual(['n0', 'n1']);
    cluster.allHealthy();
    cluster.run();
    cluster.allHealthy();
    expect(cluster.run().plan.deploymentUpdates).toMatchObject([{ Status: 'successful' }]);
  });

  test.each([
    ['complete', ['n1', 'n2', 'n0']],
    ['failed', ['n1', 'n2']],
  ] as const)('an allocation that is %s while its deployment runs', (ClientStatus, nodes) => {
    const cluster = running(steps);
    const [first] = cluster.live();
    cluster.change(first!.ID, { ClientStatus });
    cluster.run({ TriggeredBy: 'node-update' });
    expect(cluster.live().map(({ NodeID }) => NodeID)).toEqual(nodes);
    expect(newest(cluster).Status).toBe('running');
  });

  test('a rollout does not wait for full nodes', () => {
    const cluster = new TestCluster([makeNode('n0'), makeNode('n1', { cpu: 50 })]);
    cluster.putJob(system(steps));
    cluster.run();
    expect(newest(cluster).TaskGroups.web!.DesiredTotal).toBe(1);
    cluster.allHealthy();
    expect(cluster.run().plan.deploymentUpdates).toMatchObject([{ Status: 'successful' }]);
  });

  test('no deployment if every node is full', () => {
    const cluster = new TestCluster([makeNode('n0', { cpu: 50 })]);
    cluster.putJob(system(steps));
    expect(cluster.run().plan.deployment).toBeNull();
  });

  test('canaries are a share of the nodes, no more than a step', () => {
    const Update = { MaxParallel: 2, Canary: 40 };
    const cluster = rolledOut({ Update }, 4);
    cluster.putJob(system({ Update, ...changed('b') }, 1));
    const { plan } = cluster.run();
    expect(plan.deployment).toMatchObject({
      StatusDescription: told.needsPromotion,
      TaskGroups: { web: { DesiredCanaries: 2, DesiredTotal: 4 } },
    });
    expect(plan.annotations.web).toMatchObject({ Canary: 2, DestructiveUpdate: 0, Ignore: 2 });
    expect(plan.placements.map((one) => [one.NodeID, one.DeploymentStatus?.Canary])).toEqual([
      ['n0', true],
      ['n1', true],
    ]);
    cluster.allHealthy();
    expect(cluster.decide().isEmpty).toBe(true);
    cluster.promote(newest(cluster).ID);
    cluster.run();
    expect(nodesOf(cluster, 1)).toEqual(['n0', 'n1', 'n2', 'n3']);
  });

  test.each<[string, Group, Partial<Deployment>]>([
    ['waits for promotion', { Update: { MaxParallel: 1, Canary: 10 } }, {}],
    ['is paused', steps, { Status: 'paused' }],
    ['failed', steps, { Status: 'failed' }],
  ])('a node that joins while the deployment %s gets the previous version', (_, group, fields) => {
    const cluster = rolledOut(group);
    cluster.putJob(system({ ...group, ...changed('b') }, 1));
    cluster.run();
    cluster.allHealthy();
    cluster.putDeployment({ ...newest(cluster), ...fields });
    expect(cluster.decide().isEmpty).toBe(true);
    cluster.putNode(makeNode('n9'));
    const { plan } = cluster.run();
    expect(plan.placements.map((one) => [one.NodeID, one.JobVersion, one.DeploymentID])).toEqual([
      ['n9', 0, ''],
    ]);
  });
});
