import { describe, expect, test } from 'vitest';
import { noTransition } from '../../model/allocation/allocation.ts';
import { deploymentDescriptions as told } from '../../model/deployment/descriptions.ts';
import type { TestCluster } from '../cluster.test-helper.ts';
import { descriptions } from '../view.ts';
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

describe('canaries', () => {
  const group = (value: string, fields: Group = {}): Group => ({
    Count: 3,
    Update: { MaxParallel: 1, Canary: 2 },
    ...changed(value),
    ...fields,
  });
  const started = (fields: Group = {}) => {
    const cluster = rolledOut(group('a'));
    cluster.putJob(web(group('b', fields), 1));
    cluster.run();
    return cluster;
  };

  test('are not placed for the first version, nor for changes in place', () => {
    const cluster = rolledOut(group('a'));
    expect(newest(cluster).TaskGroups.web).toMatchObject({ DesiredCanaries: 0, DesiredTotal: 3 });
    cluster.putJob(web({ ...group('a'), ShutdownDelay: 1e9 }, 1));
    expect(cluster.run().plan.annotations.web).toMatchObject({ InPlaceUpdate: 3, Canary: 0 });
  });

  test('are additional allocations with the names of those that they will succeed', () => {
    const cluster = rolledOut(group('a'));
    cluster.putJob(web(group('b'), 1));
    const { plan } = cluster.run();
    expect(plan.stops).toEqual([]);
    expect(plan.annotations.web).toMatchObject({ Canary: 2, Ignore: 3, Place: 0 });
    expect(plan.deployment).toMatchObject({ StatusDescription: told.needsPromotion });
    expect(plan.placements).toMatchObject([
      {
        Name: 'job.web[0]',
        PreviousAllocation: '',
        DeploymentID: plan.deployment!.ID,
        DeploymentStatus: { Canary: true, Healthy: null },
      },
      { Name: 'job.web[1]', DeploymentStatus: { Canary: true } },
    ]);
    expect(newest(cluster).TaskGroups.web).toMatchObject({
      DesiredCanaries: 2,
      DesiredTotal: 3,
      PlacedCanaries: plan.placements.map((one) => one.ID),
    });
    expect(cluster.decide().isEmpty).toBe(true);
    cluster.allHealthy();
    expect(cluster.decide().isEmpty).toBe(true);
  });

  test('take no name of an allocation of the current version', () => {
    const cluster = rolledOut(group('a'));
    const [first, second] = cluster.live();
    // This is the state after an allocation came back: a name exists twice, and the last name is missing.
    cluster.change(second!.ID, { Name: first!.Name, JobVersion: 1 });
    cluster.putJob(web(group('b', { Update: { MaxParallel: 1, Canary: 1 } }), 1));
    expect(cluster.run().plan.placements).toMatchObject([
      { Name: 'job.web[2]', DeploymentStatus: { Canary: true } },
    ]);
  });

  test('that promote themselves have a description that says so', () => {
    const Update = { MaxParallel: 1, Canary: 1, AutoPromote: true };
    const cluster = started({ Update });
    expect(newest(cluster).StatusDescription).toBe(told.promotesItself);
  });

  test('once promoted, allocations with their names stop and the others follow in steps', () => {
    const cluster = started();
    cluster.allHealthy();
    cluster.promote(newest(cluster).ID);
    const { plan } = cluster.run();
    expect(
      plan.stops.map((stop) => [
        cluster.allocation(stop.allocationId).Name,
        stop.desiredDescription,
      ]),
    ).toEqual([
      ['job.web[0]', descriptions.notNeeded],
      ['job.web[1]', descriptions.notNeeded],
      ['job.web[2]', descriptions.updating],
    ]);
    expect(ofVersion(cluster, 1)).toEqual(names(0, 1, 2));
    expect(ofVersion(cluster, 0)).toEqual([]);
    cluster.allHealthy();
    expect(cluster.decide().plan.deploymentUpdates).toMatchObject([{ Status: 'successful' }]);
  });

  test('may be more than the group’s count', () => {
    const cluster = rolledOut(group('a', { Count: 1 }));
    cluster.putJob(web(group('b', { Count: 1 }), 1));
    cluster.run();
    expect(ofVersion(cluster, 1)).toEqual(names(0, 1));
    cluster.allHealthy();
    cluster.promote(newest(cluster).ID);
    cluster.run();
    expect(cluster.live().map((one) => [one.Name, one.JobVersion])).toEqual([['job.web[0]', 1]]);
  });

  test('a lost canary is replaced by a canary', () => {
    const cluster = started();
    const canary = cluster.live().find((one) => one.DeploymentStatus?.Canary)!;
    cluster.change(canary.ID, { NodeID: 'gone' });
    const { plan } = cluster.run();
    expect(plan.placements).toMatchObject([
      { Name: canary.Name, PreviousAllocation: canary.ID, DeploymentStatus: { Canary: true } },
    ]);
    expect(plan.annotations.web).toMatchObject({ Canary: 1 });
    expect(cluster.decide().isEmpty).toBe(true);
  });

  test('a migrated canary stays a canary', () => {
    const cluster = started();
    const canary = cluster.live().find((one) => one.DeploymentStatus?.Canary)!;
    cluster.change(canary.ID, { DesiredTransition: { ...noTransition, Migrate: true } });
    const { plan } = cluster.run();
    expect(plan.stops).toMatchObject([{ allocationId: canary.ID }]);
    expect(plan.placements).toMatchObject([{ DeploymentStatus: { Canary: true } }]);
  });

  test('while canaries wait, other allocations are replaced by their own version', () => {
    const cluster = started({ Count: 4 });
    expect(ofVersion(cluster, 0)).toEqual(names(0, 1, 2));
    const [lost, moved] = cluster.live().filter((one) => one.JobVersion === 0);
    cluster.change(lost!.ID, { NodeID: 'gone' });
    cluster.change(moved!.ID, { DesiredTransition: { ...noTransition, Migrate: true } });
    const { plan } = cluster.run();
    expect(plan.placements.map((one) => [one.Name, one.JobVersion, one.DeploymentID])).toEqual([
      ['job.web[0]', 0, ''],
      ['job.web[1]', 0, ''],
    ]);
    expect(ofVersion(cluster, 0)).toEqual(names(0, 1, 2));
  });

  test.each<[string, (cluster: TestCluster) => void]>([
    ['failed', (cluster) => set(cluster, { Status: 'failed' })],
    ['replaced', (cluster) => cluster.putJob(web(group('a'), 2))],
  ])('canaries of a deployment that was %s are stopped', (_, end) => {
    const cluster = started();
    const canaries = cluster.live().filter((one) => one.DeploymentStatus?.Canary);
    end(cluster);
    const { plan } = cluster.run();
    expect(plan.stops.map((stop) => stop.allocationId).sort()).toEqual(
      canaries.map((one) => one.ID).sort(),
    );
    expect(cluster.live()).toHaveLength(3);
  });

  test('a paused deployment places no further canaries', () => {
    const cluster = rolledOut(group('a'));
    cluster.putJob(web(group('b'), 1));
    const { plan } = cluster.decide();
    cluster.apply({ ...plan, placements: plan.placements.slice(0, 1) });
    set(cluster, { Status: 'paused' });
    expect(cluster.decide().isEmpty).toBe(true);
    set(cluster, { Status: 'running' });
    expect(cluster.decide().plan.placements).toHaveLength(1);
  });
});
