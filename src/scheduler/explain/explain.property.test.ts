import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { drained } from '../../base/steps.ts';
import type { PlacementMetrics } from '../../model/allocation/placement-metrics.ts';
import type { Job } from '../../model/job/job.ts';
import {
  affinity,
  algorithm,
  constraint,
  datacenters,
  nodeFields,
  spread,
} from '../arbitrary-cluster.test-helper.ts';
import {
  makeGroup,
  makeJob,
  makeNode,
  makeTask,
  type NodeWish,
  TestCluster,
} from '../cluster.test-helper.ts';
import { schedulerDefaults } from '../view.ts';
import { decisionOf } from './explain.test-helper.ts';
import { byScore, type NodeExplanation } from './nodes.ts';
import { type Decision, explainPlacement } from './placement.ts';
import { prospects } from './prospect.ts';
import { whyNoNode } from './words.ts';

describe('of every placement of every plan', () => {
  const node = fc.record({
    cpu: fc.constantFrom(150, 300, 1000),
    memory: fc.constantFrom(300, 1000),
    disk: fc.constantFrom(40, 1000),
    cores: fc.constantFrom([], [0, 1]),
    NodeClass: fc.constantFrom('', 'small', 'large'),
    ...nodeFields,
  });
  const group = fc.record({
    Count: fc.integer({ min: 0, max: 6 }),
    cpu: fc.constantFrom(50, 100, 250),
    cores: fc.constantFrom(0, 0, 0, 1),
    Constraints: fc.array(constraint, { maxLength: 2 }),
    Affinities: fc.array(affinity, { maxLength: 2 }),
    Spreads: fc.array(spread, { maxLength: 1 }),
    Sticky: fc.boolean(),
    Networks: fc.constantFrom(
      [],
      [{ DynamicPorts: [{ Label: 'a' }] }],
      [{ ReservedPorts: [{ Label: 's', Value: 8080 }] }],
    ),
  });
  const wish = fc.record({
    Type: fc.constantFrom('service' as const, 'service' as const, 'batch' as const, 'system'),
    Datacenters: datacenters,
    groups: fc.array(group, { minLength: 1, maxLength: 2 }),
    env: fc.constantFrom('a', 'b'),
    canary: fc.nat(1),
  });
  type Wish = Parameters<Parameters<typeof wish.map>[0]>[0];
  const world = fc.record({
    nodes: fc.array(node, { minLength: 1, maxLength: 6 }),
    algorithm,
    steps: fc.array(
      fc.record({
        ID: fc.constantFrom('job', 'job', 'job', 'other'),
        wish,
        befalls: fc.constantFrom('nothing', 'fail', 'migrate', 'drop', 'settle'),
        which: fc.nat(20),
      }),
      { minLength: 2, maxLength: 6 },
    ),
  });

  const jobOf = ({ Type, Datacenters, groups, env, canary }: Wish, ID: string, version: number) =>
    makeJob(
      {
        ID,
        Type,
        Datacenters,
        TaskGroups: groups.map(({ cpu, cores, Sticky, Spreads, Affinities, ...fields }, index) =>
          makeGroup({
            ...fields,
            Name: `g${index}`,
            EphemeralDisk: { SizeMB: 10, Sticky },
            ReschedulePolicy: { Unlimited: true, Delay: 1, DelayFunction: 'constant' },
            ...(Type !== 'system' && { Spreads, Affinities }),
            ...(Type === 'service' && { Update: { MaxParallel: 2, Canary: canary } }),
            Tasks: [makeTask({ Resources: { CPU: cpu, Cores: cores }, Env: { env } })],
          }),
        ),
      },
      version,
    );

  function befall(cluster: TestCluster, what: string, which: number): void {
    if (what === 'settle') cluster.settle();
    const live = cluster.live();
    const victim = live[which % Math.max(live.length, 1)];
    if (victim === undefined) return;
    const { ID, DesiredTransition } = victim;
    if (what === 'fail') cluster.fail(ID);
    if (what === 'drop') cluster.dropNode(victim.NodeID);
    const Migrate = { ...DesiredTransition, Migrate: true };
    if (what === 'migrate') cluster.change(ID, { DesiredTransition: Migrate });
  }

  /** The verdicts counted, in the form of the metrics. */
  function counted(nodes: readonly NodeExplanation[]): Partial<PlacementMetrics> {
    const filtered = nodes.filter((one) => one.verdict === 'filtered');
    const exhausted = nodes.filter((one) => one.verdict === 'exhausted');
    const evaluated = nodes.filter((one) => one.verdict !== 'excluded');
    const classes = (list: readonly NodeExplanation[]) =>
      countBy(list.map(({ nodeClass }) => nodeClass).filter(Boolean));
    return {
      NodesEvaluated: evaluated.length,
      NodesFiltered: filtered.length,
      NodesExhausted: exhausted.length,
      NodesAvailable: countBy(evaluated.map(({ datacenter }) => datacenter)) ?? {},
      ConstraintFiltered: countBy(filtered.map(({ text }) => text)),
      ClassFiltered: classes(filtered),
      ClassExhausted: classes(exhausted),
      DimensionExhausted: countBy(exhausted.map(({ lacks }) => lacks[0]!.dimension)),
      ScoreMetaData: topOf(nodes),
    };
  }

  const topOf = (nodes: readonly NodeExplanation[]): PlacementMetrics['ScoreMetaData'] => {
    const top = byScore(nodes).slice(0, 5);
    return top.length === 0
      ? null
      : top.map(({ nodeId, score, parts }) => ({
          NodeID: nodeId,
          NormScore: score,
          Scores: { ...parts },
        }));
  };

  function countBy(keys: readonly string[]): Record<string, number> | null {
    const counts: Record<string, number> = {};
    for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
    return keys.length === 0 ? null : counts;
  }

  function expectSound(nodes: readonly NodeExplanation[], cluster: TestCluster): void {
    expect(nodes.map(({ nodeId }) => nodeId)).toEqual([...cluster.nodes()].map(({ ID }) => ID));
    for (const one of nodes) {
      if (one.verdict === 'exhausted') {
        expect(one.lacks.length).toBeGreaterThan(0);
        for (const { amount } of one.lacks) {
          if (amount !== undefined) expect(amount.asked).toBeGreaterThan(amount.free);
        }
      }
      if (one.verdict !== 'open') continue;
      const parts = Object.values(one.parts);
      const sum = parts.reduce((total, part) => total + part, 0);
      expect(one.score).toBeCloseTo(sum / parts.length, 10);
    }
  }

  test('the explanation ranks the chosen node first, and agrees with the metrics', () => {
    let placements = 0;
    let replaced = 0;
    fc.assert(
      fc.property(world, ({ nodes, algorithm, steps }) => {
        const cluster = new TestCluster(
          nodes.map((one, index) => makeNode(`n0${index}`, one as NodeWish)),
        );
        cluster.configuration = { ...schedulerDefaults, algorithm };
        for (const [turn, { ID, wish: wanted, befalls, which }] of steps.entries()) {
          befall(cluster, befalls, which);
          cluster.nowMs += 60_000;
          const job = jobOf(wanted, ID, turn);
          cluster.putJob(job);
          const fields = { ID: `e${turn}`, JobID: ID, Type: job.Type };
          const { plan } = cluster.decide(fields);
          const decision = decisionOf(cluster, fields);
          const seen = new Set<unknown>();
          for (const [position, placement] of plan.placements.entries()) {
            placements++;
            if (placement.PreviousAllocation !== '') replaced++;
            const found = drained(explainPlacement(decision, position))!;
            expect(found.chosenId).toBe(placement.NodeID);
            expect(found.group.Name).toBe(placement.TaskGroup);
            expectSound(found.nodes, cluster);
            const [winner, next] = byScore(found.nodes);
            if (found.manner === 'best') {
              expect(winner!.nodeId).toBe(placement.NodeID);
              if (next !== undefined) expect(winner!.score - next.score).toBeGreaterThanOrEqual(0);
            } else {
              const own = found.nodes.find(({ nodeId }) => nodeId === placement.NodeID);
              expect(own!.verdict).toBe('open');
            }
            // The group's placements of a version share the metrics of the first.
            if (seen.has(placement.Metrics)) continue;
            seen.add(placement.Metrics);
            expect(placement.Metrics).toMatchObject(counted(found.nodes));
          }
          expect(drained(explainPlacement(decision, plan.placements.length))).toBeUndefined();
          expectProspects(cluster, decision, job, plan);
          cluster.apply(plan, which % 3 > 0);
        }
      }),
      { numRuns: 250 },
    );
    // Guards against a property that never tests anything.
    expect(placements).toBeGreaterThan(500);
    expect(replaced).toBeGreaterThan(60);
  });

  /** Checks that the explanation of unplaced requests agrees with the plan's metrics. */
  function expectProspects(
    cluster: TestCluster,
    decision: Decision,
    job: Job,
    plan: ReturnType<TestCluster['decide']>['plan'],
  ): void {
    const found = drained(prospects(decision, job));
    expect(found.map(({ group: { Name } }) => Name)).toEqual(Object.keys(plan.failures));
    for (const {
      group: { Name },
      placed,
      unplaced,
      nodes: explained,
    } of found) {
      expect(unplaced).toBe(plan.queued[Name]);
      expect(placed).toBe(plan.placements.filter((one) => one.TaskGroup === Name).length);
      expectSound(explained, cluster);
      if (job.Type === 'system') continue;
      expect(plan.failures[Name]).toMatchObject(counted(explained));
      expect(whyNoNode(explained, ({ nodeName }) => nodeName)).toMatch(/^[A-Z].*\.$/);
    }
  }
});
