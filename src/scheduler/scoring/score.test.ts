import { describe, expect, test } from 'vitest';
import { drained } from '../../base/steps.ts';
import type { Spread } from '../../model/constraint/constraint.ts';
import { makeGroup, makeJob, makeNode, TestCluster } from '../cluster.test-helper.ts';
import { explain } from '../explain/nodes.ts';
import { compileTarget } from '../fitting/target.ts';
import { JobLocations } from './locations.ts';
import { Numbering } from './numbering.ts';
import { affinityScorer, antiAffinityScore, packScore } from './score.ts';
import { spreadBoosts } from './spread.ts';

const need = (cpu: number, memory: number) => ({ cpu, memory, disk: 0, cores: 0 });

describe('packing', () => {
  const half = (20 - 2 * 10 ** 0.5) / 18;
  test.each<[string, 'binpack' | 'spread', number, number, number]>([
    ['empty stays empty', 'binpack', 0, 0, 0],
    ['perfect fit', 'binpack', 50, 50, 1],
    ['half full', 'binpack', 0, 50, half],
    ['empty', 'spread', 0, 0, 1],
    ['perfect fit', 'spread', 50, 50, 0],
    ['half full', 'spread', 0, 50, (2 * 10 ** 0.5 - 2) / 18],
  ])('%s, %s', (_, algorithm, used, asked, expected) => {
    const score = packScore(algorithm, need(used, used), need(asked, asked), need(100, 100));
    expect(score).toBeCloseTo(expected, 12);
  });

  test('a node without free CPU counts as completely full', () => {
    expect(packScore('binpack', need(0, 50), need(0, 50), need(0, 100))).toBe(1);
  });
});

test('anti-affinity', () => {
  expect(antiAffinityScore(1, 4)).toBe(-0.5);
  expect(antiAffinityScore(3, 4)).toBe(-1);
});

describe('affinities', () => {
  const affinity = (RTarget: string, Weight: number) => ({
    LTarget: '${meta.rack}',
    Operand: '=',
    RTarget,
    Weight,
  });
  test.each<[string, number]>([
    ['r1', 0.5],
    ['r2', -0.25],
    ['r3', 0.25],
    ['r4', 0],
  ])('%s: %s', (rack, expected) => {
    const job = makeJob({
      Affinities: [affinity('r1', 100)],
      TaskGroups: [
        makeGroup({
          Affinities: [affinity('r2', -50)],
          Tasks: [{ Name: 't', Driver: 'raw_exec', Affinities: [affinity('r3', 50)] }],
        }),
      ],
    });
    const score = affinityScorer(job, job.TaskGroups[0]!)!;
    expect(score(makeNode('n', { Meta: { rack } }))).toBe(expected);
  });

  test('none', () => {
    const job = makeJob();
    expect(affinityScorer(job, job.TaskGroups[0]!)).toBeUndefined();
  });
});

describe('spreads', () => {
  const racks = ['r1', 'r2', 'r3'];
  const boosts = (targets: Record<string, number>, used: Record<string, number>, weight = 50) => {
    const spread: Spread = {
      Attribute: '${meta.rack}',
      Weight: weight,
      SpreadTarget: Object.entries(targets).map(([Value, Percent]) => ({ Value, Percent })),
    };
    const other = { Attribute: '${meta.none}', Weight: 100 - weight, SpreadTarget: [] };
    const Spreads = weight === 50 ? [spread] : [spread, other];
    const job = makeJob({ Spreads, TaskGroups: [makeGroup({ Count: 10 })] });
    const [column] = spreadBoosts(job, job.TaskGroups[0]!, locationsOf(used), () => {
      const values = new Numbering();
      return { values, candidates: racks.map((rack) => values.of(rack)) };
    });
    return [0, 1, 2, -1].map((number) => column!.boost(number));
  };

  /** The number of live allocations in each rack; 0 stands for a stopped allocation. */
  const locationsOf = (used: Record<string, number>): JobLocations => {
    const rackOf = (id: string) => makeNode(id, { Meta: { rack: id } });
    const locations = drained(JobLocations.of(rackOf, []));
    for (const [rack, count] of Object.entries(used)) {
      for (let number = 0; number <= count; number++) {
        locations.add({ ID: `${rack} ${number}`, TaskGroup: 'web', NodeID: rack });
      }
      locations.remove(`${rack} 0`);
    }
    return locations;
  };

  test.each<[string, Record<string, number>, Record<string, number>, number[]]>([
    // Targets: ((desired - (used + 1)) / desired), by 10 wanted.
    ['nothing used', { r1: 50, r2: 30, r3: 20 }, {}, [0.8, 2 / 3, 0.5, -1]],
    ['some used', { r1: 50, r2: 30, r3: 20 }, { r1: 4, r2: 3 }, [0, -1 / 3, 0.5, -1]],
    ['the other values share the rest', { r1: 50 }, { r2: 1 }, [0.8, 0.6, 0.8, -1]],
    ['no rest', { r1: 50, r2: 50 }, {}, [0.8, 0.8, -1, -1]],
    ['a share of 0', { r1: 100, r2: 0 }, {}, [0.9, -1, -1, -1]],
    [
      'a share of 0 is below all others',
      { r1: 20, r2: 80, r3: 0 },
      { r1: 4 },
      [-1.5, 0.875, -1.5, -1],
    ],
    // Even.
    ['none used', {}, {}, [0, 0, 0, 0]],
    ['one value in use', {}, { r1: 1 }, [-1, 1, 1, -1]],
    ['all alike', {}, { r1: 2, r2: 2, r3: 2 }, [-1, -1, -1, -1]],
    ['one lags', {}, { r1: 3, r2: 2, r3: 1 }, [-2, -1, 2, -1]],
    ['a value whose allocation was stopped', {}, { r1: 3, r2: 0 }, [-1, 1, 1, -1]],
  ])('%s', (_, targets, used, expected) => {
    expect(boosts(targets, used)).toEqual(expected.map((value) => expect.closeTo(value, 12)));
  });

  test('weights count for targets', () => {
    expect(boosts({ r1: 50 }, {}, 25)[0]).toBeCloseTo(0.2, 12);
  });
});

test('the value of a stopped allocation stays in use with a count of 0', () => {
  const cluster = new TestCluster([makeNode('n1', { Meta: { rack: 'r1' } })]);
  cluster.putJob(makeJob());
  cluster.run();
  const locations = drained(JobLocations.of((id) => cluster.node(id), cluster.allocations));
  const read = compileTarget('${meta.rack}');
  expect([...locations.byValue(read, 'web')]).toEqual([['r1', 1]]);
  locations.remove(cluster.allocations[0]!.ID);
  expect([...locations.byValue(read, 'web')]).toEqual([['r1', 0]]);
  expect([...locations.byValue(read, 'other')]).toEqual([]);
});

test('explain gives the parts for open nodes and the reason for the others', () => {
  const cluster = new TestCluster([
    makeNode('n1', { Meta: { rack: 'r1' } }),
    makeNode('n2', { Meta: { rack: 'r2' } }),
    makeNode('n3', { Status: 'down' }),
    makeNode('n4', { memory: 50 }),
    makeNode('n5', { Meta: { rack: 'r1' } }),
  ]);
  const job = makeJob({
    Constraints: [{ LTarget: '${meta.rack}', Operand: 'distinct_property', RTarget: '1' }],
    TaskGroups: [
      makeGroup({
        Count: 1,
        Affinities: [{ LTarget: '${meta.rack}', Operand: '=', RTarget: 'r2', Weight: 50 }],
      }),
    ],
  });
  cluster.putJob(job);
  cluster.run();
  expect(cluster.live().map((one) => one.NodeID)).toEqual(['n2']);
  const pack = (20 - 2 * 10 ** 0.9) / 18;
  expect(explain(cluster, job, job.TaskGroups[0]!)).toMatchObject([
    {
      nodeId: 'n1',
      verdict: 'open',
      parts: { binpack: pack, 'node-affinity': 0 },
      score: pack / 2,
    },
    {
      nodeId: 'n2',
      verdict: 'filtered',
      rule: 'distinct_property',
      text: 'distinct_property: ${meta.rack}=r2 used by 1 allocs',
    },
    { nodeId: 'n3', verdict: 'excluded', rule: 'ready' },
    {
      nodeId: 'n4',
      verdict: 'filtered',
      text: 'distinct_property: missing property ${meta.rack}',
    },
    { nodeId: 'n5', verdict: 'open' },
  ]);
});
