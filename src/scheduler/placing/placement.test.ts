import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { drained } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { PlacementMetrics } from '../../model/allocation/placement-metrics.ts';
import type { Job } from '../../model/job/job.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { makeEvaluation, makeJob, makeNode } from '../cluster.test-helper.ts';
import type { PlacementRequest } from '../decision.ts';
import { NotedCluster } from '../memory/noted-cluster.test-helper.ts';
import { schedulerDefaults } from '../view.ts';
import { type Asked, BruteForce } from './brute-force.test-helper.ts';
import { type GroupPlacement, Placer } from './place.ts';
import {
  type Evaluate,
  jobOf,
  nodeOf,
  rule,
  type Step,
  story,
} from './random-cluster.test-helper.ts';

interface Plan {
  readonly stops: readonly Allocation[];
  readonly groups: readonly {
    readonly group: TaskGroup;
    readonly requests: readonly PlacementRequest[];
  }[];
}

/** Gives every allocation of the job a fate, and adds new requests. */
function planFor(cluster: NotedCluster, wanted: Job, { fates, fresh }: Evaluate): Plan {
  const stops: Allocation[] = [];
  const groups = wanted.TaskGroups.map((group) => {
    const members = cluster
      .allocationsOfJob('default', wanted.ID)
      .filter((one) => one.TaskGroup === group.Name && one.DesiredStatus === 'run');
    const requests: PlacementRequest[] = [];
    const ask = (kind: PlacementRequest['kind'], previous?: Allocation) =>
      requests.push({
        kind,
        name: `${group.Name}[${requests.length}]`,
        previous,
        stop: undefined,
        delayNs: 0,
        deploymentId: '',
        isCanary: false,
      });
    for (const [position, member] of members.entries()) {
      const fate = fates[position % fates.length]!;
      if (member.ClientStatus === 'failed') ask('reschedule', member);
      else if (['lost', 'complete'].includes(member.ClientStatus)) ask('lost', member);
      else if (fate === 0) stops.push(member);
      else if (fate === 1 || fate === 2) ask('update', member);
      else if (fate === 3) {
        stops.push(member);
        ask('migrate', member);
      }
    }
    for (let count = 0; count < fresh; count++) ask('new');
    return { group, requests };
  });
  return { stops, groups };
}

function carryOut(
  cluster: NotedCluster,
  wanted: Job,
  { stops, groups }: Plan,
  { seed, isKept }: { readonly seed: number; readonly isKept: boolean },
): readonly GroupPlacement[] {
  const session = isKept ? cluster.memory.begin(cluster) : undefined;
  const begun = Placer.begin({
    view: cluster,
    evaluation: makeEvaluation({ ID: `evaluation-${seed}`, JobID: wanted.ID }),
    job: wanted,
    allocations: cluster.allocationsOfJob('default', wanted.ID),
    ids: new SimulatedWorld(seed).ids,
    nowMs: 0,
    ...(session && { session }),
  });
  const placer = drained(begun);
  for (const stop of stops) {
    placer.stop({ allocationId: stop.ID, desiredStatus: 'stop' });
  }
  const placed = groups.map(({ group, requests }) =>
    placer.placeGroup({ job: wanted, group, placements: requests }),
  );
  session?.end();
  return placed;
}

/** Checks that the metrics count every candidate as filtered, exhausted or open. */
function judgeCounts(metrics: PlacementMetrics, open: number): void {
  const total = (counts: Readonly<Record<string, number>> | null): number =>
    Object.values(counts ?? {}).reduce((sum, count) => sum + count, 0);
  const { NodesEvaluated, NodesFiltered, NodesExhausted } = metrics;
  expect(NodesEvaluated - NodesFiltered - NodesExhausted).toBe(open);
  expect(total(metrics.NodesAvailable)).toBe(NodesEvaluated);
  expect(total(metrics.ConstraintFiltered)).toBe(NodesFiltered);
  expect(total(metrics.DimensionExhausted)).toBe(NodesExhausted);
  expect(metrics.ScoreMetaData ?? []).toHaveLength(Math.min(open, 5));
}

const succeeds = ({ kind }: Asked): boolean => kind === 'update' || kind === 'migrate';

/** Checks every choice against the oracle, request by request. */
function judge(
  cluster: NotedCluster,
  wanted: Job,
  { stops, groups }: Plan,
  placed: readonly GroupPlacement[],
): void {
  const { algorithm } = cluster.configuration;
  const oracle = new BruteForce(wanted, cluster.nodes(), cluster.allocations, algorithm);
  for (const stop of stops) oracle.stop(stop.ID);
  for (const [position, { group, requests }] of groups.entries()) {
    const { placements, failure, queued } = placed[position]!;
    const careless = (group.Networks ?? []).some((network) =>
      (network.ReservedPorts ?? []).some((port) => port.IgnoreCollision),
    );
    let next = 0;
    let failed = 0;
    for (const request of requests) {
      const skipped = failed > 0 && !succeeds(request);
      const expected = skipped ? undefined : oracle.choose(group, request);
      if (expected === undefined) {
        if (failed++ === 0) judgeCounts(failure!, 0);
        continue;
      }
      const actual = placements[next++] as Allocation | undefined;
      expect([actual?.Name, actual?.NodeID]).toEqual([request.name, expected.id]);
      if (next === 1) judgeCounts(actual!.Metrics!, oracle.openNodes(group, request));
      if (next === 1 && !group.EphemeralDisk.Sticky) {
        const [best] = actual!.Metrics!.ScoreMetaData!;
        expect([best!.NodeID, best!.NormScore]).toEqual([expected.id, expected.score]);
      }
      if (!careless) expect(oracle.isShared(request, actual!)).toBe(false);
      oracle.placed(request, actual!);
    }
    expect(placements).toHaveLength(next);
    expect([queued, failure === undefined]).toEqual([failed, failed === 0]);
  }
}

/** Applies the plan to the cluster, as the plan applier does. */
function apply(
  cluster: NotedCluster,
  { stops, groups }: Plan,
  placed: readonly GroupPlacement[],
  runs: boolean,
): void {
  const replaced = new Set(
    placed.flatMap(({ placements }) => placements.map((one) => one.PreviousAllocation)),
  );
  const ended = groups
    .flatMap(({ requests }) => requests)
    .map(({ previous }) => previous)
    .filter((previous) => previous !== undefined && replaced.has(previous.ID)) as Allocation[];
  cluster.putAllocations(
    [...stops, ...ended].map((one) => ({ ...one, DesiredStatus: 'stop' as const })),
  );
  cluster.putAllocations(
    placed
      .flatMap(({ placements }) => placements as Allocation[])
      .map((one) => ({ ...one, ClientStatus: runs ? 'running' : 'pending' })),
  );
}

function changeNode(
  cluster: NotedCluster,
  which: number,
  change: Extract<Step, { kind: 'node' }>['change'],
): void {
  const id = `n${which}`;
  const known = cluster.node(id);
  if (typeof change === 'object' && 'Meta' in change) cluster.putNode(nodeOf(which, change));
  else if (known === undefined) return;
  else if (change === 'gone') cluster.dropNode(id);
  else if (change === 'told again') cluster.putNode({ ...known, StatusDescription: change });
  else if (change === 'closed') cluster.putNode({ ...known, SchedulingEligibility: 'ineligible' });
  else {
    const Cpu = { ...known.NodeResources.Cpu, CpuShares: change.larger };
    cluster.putNode({ ...known, NodeResources: { ...known.NodeResources, Cpu } });
  }
}

function change(cluster: NotedCluster, one: Exclude<Step, Evaluate>): void {
  if (one.kind === 'node') {
    changeNode(cluster, one.which, one.change);
    return;
  }
  const victim = cluster.allocations[one.which % Math.max(cluster.allocations.length, 1)];
  if (victim === undefined) return;
  if (one.status === 'gone') cluster.dropAllocation(victim.ID);
  else if (!['complete', 'failed', 'lost'].includes(victim.ClientStatus)) {
    cluster.putAllocations([
      {
        ...victim,
        ClientStatus: one.status as Allocation['ClientStatus'],
        RescheduleTracker: {
          LastReschedule: 'ok',
          Events: [
            { RescheduleTime: 0, PrevAllocID: '', PrevNodeID: `n${one.which % 4}`, Delay: 0 },
          ],
        },
      },
    ]);
  }
}

describe('random clusters, jobs and events', () => {
  test('every choice equals the choice of a scheduler without memory and shortcuts', () => {
    let judged = 0;
    fc.assert(
      fc.property(story, ({ nodes, jobs, steps }) => {
        const cluster = new NotedCluster();
        for (const [position, wish] of nodes.entries()) cluster.putNode(nodeOf(position, wish));
        for (const [number, one] of steps.entries()) {
          if (one.kind !== 'evaluate') {
            change(cluster, one);
            continue;
          }
          cluster.configuration = { ...schedulerDefaults, algorithm: one.algorithm };
          const wanted = jobOf(one.job, jobs[one.job]!);
          const plan = planFor(cluster, wanted, one);
          const placed = carryOut(cluster, wanted, plan, { seed: number, isKept: true });
          const anew = carryOut(cluster, wanted, plan, { seed: number, isKept: false });
          expect(anew).toEqual(placed);
          expect(JSON.stringify(anew)).toBe(JSON.stringify(placed));
          judge(cluster, wanted, plan, placed);
          if (!one.isRefused) apply(cluster, plan, placed, one.runs);
          judged += placed.reduce((sum, { placements }) => sum + placements.length, 0);
        }
      }),
      { numRuns: Number(process.env.RUNS ?? 400) },
    );
    expect(judged).toBeGreaterThan(1000);
  });
});

test.each([
  [[rule('${node.unique.id}', '=', 'x'), rule('${attr.size}', '=', '9')]],
  [[rule('${attr.size}', '=', '9'), rule('${node.unique.id}', '=', 'x')]],
])('the metrics name the first rule that a node fails', (Constraints) => {
  const cluster = new NotedCluster();
  for (const id of ['n1', 'n2']) cluster.putNode(makeNode(id, { Attributes: { size: '1' } }));
  const job = makeJob({ Constraints });
  const request = { kind: 'new' as const, name: 'a', previous: undefined, stop: undefined };
  const placements = [{ ...request, delayNs: 0, deploymentId: '', isCanary: false }];
  const plan = { stops: [], groups: [{ group: job.TaskGroups[0]!, requests: placements }] };
  const [placed] = carryOut(cluster, job, plan, { seed: 1, isKept: true });
  const { LTarget, Operand, RTarget } = Constraints[0]!;
  expect(placed!.failure).toMatchObject({
    NodesEvaluated: 2,
    NodesFiltered: 2,
    ConstraintFiltered: { [`${LTarget} ${Operand} ${RTarget}`]: 2 },
  });
});
