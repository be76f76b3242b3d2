import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AllocatedResources } from '../../model/allocation/allocated-resources.ts';
import type { NodeDevice } from '../../model/node/device.ts';
import type { Input } from '../../model/schema.ts';
import { makeGroup, makeJob, makeNode, makeTask, TestCluster } from '../cluster.test-helper.ts';
import { type Asker, deal, worthOf } from './device-match.ts';
import { firstFailed, rulesFor } from './feasibility.ts';

type Request = NonNullable<
  NonNullable<ReturnType<typeof makeTask>['Resources']>['Devices']
>[number];

const gpu = (Name: string, count: number, gib: number, fields = {}): Input<NodeDevice> => ({
  Vendor: 'acme',
  Type: 'gpu',
  Name,
  Attributes: { memory: { Int: gib, Unit: 'GiB' } },
  Instances: Array.from({ length: count }, (_, n) => ({ ID: `${Name}-${n}`, Healthy: true })),
  ...fields,
});

const jobOf = (requests: readonly Request[], fields: object = {}, ID = 'job') =>
  makeJob({
    ID,
    TaskGroups: [
      makeGroup({ Tasks: [makeTask({ Resources: { Devices: [...requests] } })], ...fields }),
    ],
  });

/** Ids of pieces by task. */
const idsIn = ({ Tasks }: AllocatedResources) =>
  Object.values(Tasks).map((task) => (task.Devices ?? []).flatMap((one) => one.DeviceIDs));

/** The devices of the first allocation on a node with these devices. */
function given(devices: readonly Input<NodeDevice>[], requests: readonly Request[]) {
  const cluster = new TestCluster([makeNode('n1', { devices })]);
  cluster.putJob(jobOf(requests));
  const { plan } = cluster.run();
  const [placement] = plan.placements;
  return {
    ids: placement && idsIn(placement.AllocatedResources)[0],
    filtered: plan.failures.web?.ConstraintFiltered,
    short: plan.failures.web?.DimensionExhausted,
    score: placement?.Metrics?.ScoreMetaData?.[0]?.Scores.devices,
  };
}

const missing = { 'missing devices': 1 };
const large = (gib: number) => [
  { LTarget: '${device.attr.memory}', Operand: '>=', RTarget: `${gib} GiB` },
];
const among = (Operand: string, RTarget: string) => [
  { LTarget: '${device.ids}', Operand, RTarget },
];

describe('the pieces for a request', () => {
  test.each<[string, Request, readonly string[] | undefined]>([
    ['the type', { Name: 'gpu' }, ['a-0']],
    ['vendor and type', { Name: 'acme/gpu' }, ['a-0']],
    ['vendor, type and model', { Name: 'acme/gpu/b' }, ['b-0']],
    ['another vendor', { Name: 'other/gpu' }, undefined],
    ['another type', { Name: 'fpga' }, undefined],
    ['only the model', { Name: 'b' }, undefined],
    ['more than one piece', { Name: 'gpu', Count: 2 }, ['b-0', 'b-1']],
    ['more pieces than one make has', { Name: 'gpu', Count: 3 }, ['b-0', 'b-1', 'a-0']],
    ['more pieces than exist', { Name: 'gpu', Count: 4 }, undefined],
    ['an attribute of one make', { Name: 'gpu', Constraints: large(16) }, ['b-0']],
    ['an attribute of no make', { Name: 'gpu', Constraints: large(64) }, undefined],
    ['a piece by its id', { Name: 'gpu', Constraints: among('=', 'b-1') }, ['b-1']],
    [
      'any piece except one',
      { Name: 'gpu', Count: 2, Constraints: among('!=', 'b-0') },
      ['a-0', 'b-1'],
    ],
    [
      'a set of ids',
      { Name: 'gpu', Count: 2, Constraints: among('set_contains', 'b-0,b-1') },
      ['b-0', 'b-1'],
    ],
    [
      'a set that the node lacks',
      { Name: 'gpu', Constraints: among('set_contains', 'b-0,c') },
      undefined,
    ],
    [
      'any piece of a set',
      { Name: 'gpu', Constraints: among('set_contains_any', 'c, b-1') },
      ['b-1'],
    ],
  ])('%s', (_title, request, expected) => {
    const { ids, filtered } = given([gpu('a', 1, 8), gpu('b', 2, 16)], [request]);
    expect([ids && [...ids].sort(), filtered]).toEqual(
      expected === undefined ? [undefined, missing] : [[...expected].sort(), undefined],
    );
  });

  test('are healthy', () => {
    const Instances = [{ ID: 'bad' }, { ID: 'good', Healthy: true }];
    expect(given([gpu('a', 0, 8, { Instances })], [{ Name: 'gpu' }]).ids).toEqual(['good']);
    expect(given([gpu('a', 0, 8, { Instances })], [{ Name: 'gpu', Count: 2 }]).filtered).toEqual(
      missing,
    );
  });

  test('leave pieces that only another request of the group can use', () => {
    const { ids } = given(
      [gpu('b', 2, 16), gpu('a', 1, 8)],
      [{ Name: 'gpu', Count: 2 }, { Name: 'acme/gpu/b' }],
    );
    expect(ids).toEqual(['b-0', 'a-0', 'b-1']);
  });

  test('are of the make that its affinities prefer, and give the node a score', () => {
    const Affinities = [
      { LTarget: '${device.attr.memory}', Operand: '>=', RTarget: '16 GiB', Weight: 75 },
      { LTarget: '${device.model}', Operand: '=', RTarget: 'a', Weight: -25 },
    ];
    const makes = [gpu('a', 1, 8), gpu('b', 1, 16)];
    expect(given(makes, [{ Name: 'gpu', Affinities }])).toMatchObject({
      ids: ['b-0'],
      score: 0.75,
    });
    expect(given([makes[0]!], [{ Name: 'gpu', Affinities }])).toMatchObject({ score: -0.25 });
    const both = { Name: 'gpu', Count: 2, Affinities };
    expect(given(makes, [both])).toMatchObject({ score: 0.25 });
    expect(given(makes, [{ Name: 'gpu' }]).score).toBeUndefined();
  });
});

describe('pieces are given only once', () => {
  test('until none is left', () => {
    const cluster = new TestCluster([makeNode('n1', { devices: [gpu('a', 3, 8)] })]);
    cluster.putJob(jobOf([{ Name: 'gpu' }], { Count: 4 }));
    const { plan } = cluster.run();
    const ids = plan.placements.flatMap((one) => idsIn(one.AllocatedResources)[0]!);
    expect(ids).toEqual(['a-0', 'a-1', 'a-2']);
    expect(plan.failures.web).toMatchObject({
      NodesFiltered: 0,
      NodesExhausted: 1,
      DimensionExhausted: { 'devices: not enough gpu free': 1 },
    });
  });

  test('and again once their holder has ended', () => {
    const cluster = new TestCluster([makeNode('n1', { devices: [gpu('a', 1, 8)] })]);
    cluster.putJob(jobOf([{ Name: 'gpu' }]));
    cluster.run();
    cluster.putJob(jobOf([{ Name: 'gpu' }], {}, 'next'));
    expect(cluster.decide({ JobID: 'next' }).plan.placements).toEqual([]);
    cluster.change(cluster.allocations[0]!.ID, { ClientStatus: 'complete' });
    expect(cluster.decide({ JobID: 'next' }).plan.placements).toHaveLength(1);
  });

  test('a replacement on the node may have the pieces of its predecessor', () => {
    const cluster = new TestCluster([makeNode('n1', { devices: [gpu('a', 1, 8)] })]);
    const Update = { MaxParallel: 0 };
    cluster.putJob(jobOf([{ Name: 'gpu' }], { Update }));
    cluster.run();
    const next = { ...jobOf([{ Name: 'acme/gpu' }], { Update }), Version: 1, JobModifyIndex: 11 };
    cluster.putJob(next);
    expect(cluster.run().plan.placements).toHaveLength(1);
  });

  test('to all tasks of a group together', () => {
    const cluster = new TestCluster([makeNode('n1', { devices: [gpu('a', 4, 8)] })]);
    const task = (Name: string) =>
      makeTask({ Name, Resources: { Devices: [{ Name: 'gpu', Count: 2 }] } });
    cluster.putJob(makeJob({ TaskGroups: [makeGroup({ Tasks: [task('one'), task('two')] })] }));
    const [placement] = cluster.run().plan.placements;
    expect(idsIn(placement!.AllocatedResources)).toEqual([
      ['a-0', 'a-1'],
      ['a-2', 'a-3'],
    ]);
  });
});

test('nodes of one class have the same makes of devices, but may have other pieces', () => {
  const [one, two, other] = [
    makeNode('n1', { devices: [gpu('a', 1, 8)] }),
    makeNode('n2', { devices: [gpu('a', 4, 8)] }),
    makeNode('n3', { devices: [gpu('a', 4, 16)] }),
  ];
  const bare = makeNode('n4');
  expect(two!.ComputedClass).toBe(one!.ComputedClass);
  expect(new Set([one, other, bare].map((node) => node!.ComputedClass)).size).toBe(3);
  const job = jobOf([{ Name: 'gpu', Count: 2 }]);
  const rules = rulesFor(job, job.TaskGroups[0]!);
  const failed = [one, two, other, bare].map((node) => firstFailed(rules, node!)?.scope);
  expect(failed).toEqual(['node', undefined, undefined, 'class']);
});

describe('dealing out', () => {
  const asker = fc.record({
    count: fc.integer({ min: 1, max: 3 }),
    worth: fc.array(fc.option(fc.integer({ min: -2, max: 3 }), { nil: undefined }), {
      minLength: 4,
      maxLength: 4,
    }),
  });
  const sizes = fc.array(fc.nat({ max: 3 }), { minLength: 4, maxLength: 4 });

  /** The greatest total worth, found by trying every deal. */
  function most(
    askers: readonly Asker[],
    left: readonly number[],
    missing = askers[0]?.count,
  ): number {
    const [first, ...others] = askers;
    if (first === undefined) return 0;
    if (missing === 0) return most(others, left);
    let best = Number.NEGATIVE_INFINITY;
    for (const [pool, worth] of first.worth.entries()) {
      if (worth === undefined || left[pool] === 0) continue;
      const fewer = left.with(pool, left[pool]! - 1);
      best = Math.max(best, worth + most(askers, fewer, missing! - 1));
    }
    return best;
  }

  test('every asker gets its count, and no deal is worth more', () => {
    let dealt = 0;
    let refused = 0;
    fc.assert(
      fc.property(fc.array(asker, { minLength: 1, maxLength: 3 }), sizes, (askers, pools) => {
        const found = deal(askers, pools);
        const best = most(askers, pools);
        if (found === undefined) {
          refused++;
          expect(best).toBe(Number.NEGATIVE_INFINITY);
          return;
        }
        dealt++;
        for (const [position, pieces] of found.entries()) {
          expect(pieces.reduce((sum, count) => sum + count, 0)).toBe(askers[position]!.count);
          for (const [pool, count] of pieces.entries()) {
            expect(count).toBeGreaterThanOrEqual(0);
            if (count > 0) expect(askers[position]!.worth[pool]).toBeDefined();
          }
        }
        for (const [pool, size] of pools.entries()) {
          const given = found.reduce((sum, pieces) => sum + pieces[pool]!, 0);
          expect(given).toBeLessThanOrEqual(size);
        }
        const worth = found.map((pieces, position) => worthOf(askers[position]!, pieces));
        expect(worth.reduce((sum, one) => sum + one, 0)).toBe(best);
      }),
      { numRuns: Number(process.env.RUNS ?? 500) },
    );
    expect([dealt > 100, refused > 50]).toEqual([true, true]);
  });
});
