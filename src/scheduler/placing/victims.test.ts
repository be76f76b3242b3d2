import { beforeEach, describe, expect, test } from 'vitest';
import { makeNode } from '../cluster.test-helper.ts';
import { cluster, evicted, newCluster, nodes, run } from './preempt.test-helper.ts';
import { preemptionScore } from './preempt.ts';

beforeEach(newCluster);

describe('the choice of victims', () => {
  test.each([
    ['fit exactly', [200, 300, 500], 500, [500]],
    ['are just enough together with the free resources', [100, 200, 700], 100, [100]],
    ['come closest to the missing amounts, one after the other', [300, 350, 350], 400, [300, 350]],
    ['lose a victim that a later victim made superfluous', [200, 800], 700, [800]],
  ])('victims that %s', (_title, there, cpu, expected) => {
    nodes([makeNode('n1')]);
    for (const [at, size] of there.entries()) run(`other${at}`, { priority: 20, cpu: size });
    run('important', { priority: 80, cpu });
    const gone = cluster.allocations.filter((one) => one.DesiredStatus === 'evict');
    const sizes = gone.map((one) => one.AllocatedResources.Tasks.server!.Cpu.CpuShares);
    expect(sizes.sort()).toEqual(expected);
  });

  test('takes lower priorities first, even if others fit better', () => {
    nodes([makeNode('n1')]);
    run('exact', { priority: 30, cpu: 500 });
    run('low', { priority: 20, cpu: 250, count: 2 });
    run('important', { priority: 80, cpu: 500 });
    expect(evicted()).toEqual({ low: 2 });
  });

  test('spares groups that have reached their limit of losses', () => {
    nodes([makeNode('n1'), makeNode('n2')]);
    run('exact', { priority: 20, cpu: 500, count: 2, moved: 1 });
    run('larger', { priority: 20, cpu: 500, memory: 800, count: 2, moved: 1 });
    run('important', { priority: 80, cpu: 400, count: 2 });
    expect(evicted()).toEqual({ exact: 1, larger: 1 });
  });

  test('takes the holder of the port', () => {
    nodes([makeNode('n1')]);
    run('low', { priority: 20, count: 3 });
    run('web', { priority: 40, ports: [80] });
    run('important', { priority: 80, ports: [80] });
    expect(evicted()).toEqual({ web: 1 });
  });

  test('is empty when the holder of the port has the same priority', () => {
    nodes([makeNode('n1')]);
    run('low', { priority: 20, count: 3 });
    run('web', { priority: 75, ports: [80] });
    expect(run('important', { priority: 80, ports: [80] }).plan.preemptions).toEqual([]);
  });

  test('takes holders of the devices, no more than needed', () => {
    const Instances = ['g1', 'g2', 'g3'].map((ID) => ({ ID, Healthy: true }));
    nodes([makeNode('n1', { devices: [{ Vendor: 'acme', Type: 'gpu', Name: 'a', Instances }] })]);
    run('plain', { priority: 20, count: 3 });
    run('two', { priority: 20, gpus: 2 });
    run('one', { priority: 20, gpus: 1 });
    const { plan } = run('important', { priority: 80, gpus: 1 });
    expect(evicted()).toEqual({ one: 1 });
    const { Devices } = plan.placements[0]!.AllocatedResources.Tasks.server!;
    expect(Devices).toEqual([{ Vendor: 'acme', Type: 'gpu', Name: 'a', DeviceIDs: ['g3'] }]);
  });

  test('prefers the node with the fewest victims of the lowest priorities', () => {
    nodes([makeNode('n1'), makeNode('n2'), makeNode('n3')]);
    run('a', { priority: 40, cpu: 900 });
    run('b', { priority: 20, cpu: 900 });
    run('c', { priority: 30, cpu: 900 });
    const { plan } = run('important', { priority: 80, cpu: 900 });
    const [there] = cluster.allocations.filter((one) => one.JobID === 'b');
    expect(plan.preemptions).toMatchObject([{ allocationId: there!.ID, nodeId: there!.NodeID }]);
    const scores = plan.placements[0]!.Metrics!.ScoreMetaData!;
    expect(scores.map(({ Scores }) => Scores.preemption)).toEqual(
      [20, 30, 40].map((priority) => preemptionScore([priority])),
    );
  });

  test('prefers the node of a sticky disk', () => {
    nodes([makeNode('n1'), makeNode('n2')]);
    run('important', { priority: 80, cpu: 400, sticky: true });
    const [first] = cluster.live();
    run('a', { priority: 40, cpu: 600 });
    run('b', { priority: 20, cpu: 1000 });
    run('important', { priority: 80, cpu: 500, sticky: true, env: 'new' }, 1);
    expect(cluster.named('important.web[0]').NodeID).toBe(first!.NodeID);
    expect(evicted()).toEqual({ a: 1 });
  });
});
