import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { drained } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { PlacementMetrics } from '../../model/allocation/placement-metrics.ts';
import type { Job } from '../../model/job/job.ts';
import type { Node } from '../../model/node/node.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { makeEvaluation, makeGroup, makeJob, makeNode, makeTask } from '../cluster.test-helper.ts';
import type { PlacementRequest } from '../decision.ts';
import { NotedCluster } from '../memory/noted-cluster.test-helper.ts';
import { schedulerDefaults } from '../view.ts';
import { type Asked, BruteForce } from './brute-force.test-helper.ts';
import { type GroupPlacement, Placer } from './place.ts';

const sometimes = <T>(likely: T, rare: fc.Arbitrary<T>, weight = 4): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: fc.constant(likely) }, { weight: 1, arbitrary: rare });

const size = fc.constantFrom(300, 500, 1000);

const attribute = (Int: number, Unit: string) => ({
  Int,
  Unit,
  Float: null,
  String: null,
  Bool: null,
});

const device = fc.record({
  make: fc.constantFrom(
    { Vendor: 'acme', Type: 'gpu', Name: 'a1', Attributes: { memory: attribute(4096, 'MiB') } },
    { Vendor: 'acme', Type: 'gpu', Name: 'a2', Attributes: { memory: attribute(8, 'GiB') } },
    { Vendor: 'other', Type: 'gpu', Name: 'b', Attributes: { memory: attribute(8, 'GB') } },
    { Vendor: 'acme', Type: 'fpga', Name: 'f', Attributes: {} },
  ),
  healthy: fc.array(fc.constantFrom(true, true, true, false), { minLength: 1, maxLength: 3 }),
});

const devices = fc.uniqueArray(device, { selector: ({ make }) => make.Name, maxLength: 3 });

const devicesOf = (wishes: Parameters<Parameters<typeof devices.map>[0]>[0]) =>
  wishes.map(({ make, healthy }) => ({
    ...make,
    Instances: healthy.map((Healthy, number) => ({
      ID: `${make.Name}-${number}`,
      Healthy,
      HealthDescription: '',
      Locality: null,
    })),
  }));

const node = fc.record({
  cpu: size,
  memory: fc.constantFrom(300, 500, 1000),
  disk: fc.constantFrom(40, 1000, 1000),
  cores: fc.constantFrom([], [0, 1], [0, 1, 2, 3]),
  Datacenter: fc.constantFrom('dc1', 'dc2', 'eu-1'),
  NodeClass: fc.constantFrom('', 'large'),
  NodePool: sometimes('default', fc.constant('gpu')),
  SchedulingEligibility: sometimes('eligible' as const, fc.constant('ineligible' as const), 8),
  Meta: fc.record(
    { rack: fc.constantFrom('r1', 'r2', 'r3'), 'unique.slot': fc.constantFrom('s1', 's2') },
    { requiredKeys: [] },
  ),
  Attributes: fc.record(
    {
      size: fc.constantFrom('1', '2', '10'),
      version: fc.constantFrom('1.2.0', '1.10.3', '2.0.0-beta'),
      tags: fc.constantFrom('a,b', 'b, c'),
    },
    { requiredKeys: ['size'] },
  ),
  ports: fc.constantFrom<[number, number]>([20_000, 20_001], [20_000, 20_005]),
  reservedPorts: sometimes('', fc.constant('20001,8080')),
  second: fc.boolean(),
  devices: sometimes([], devices, 1),
});

type NodeWish = Parameters<Parameters<typeof node.map>[0]>[0];

const nodeOf = (position: number, { second, devices: wanted, ...wish }: NodeWish): Node => {
  const made = makeNode(`n${position}`, { ...wish, devices: devicesOf(wanted) });
  const more = { Mode: 'host', Device: 'eth1', IP: '10.0.1.1', CIDR: '', MBits: 0 };
  const Networks = [...made.NodeResources.Networks, ...(second ? [more] : [])];
  return { ...made, NodeResources: { ...made.NodeResources, Networks } };
};

const rule = (LTarget: string, Operand: string, RTarget: string) => ({ LTarget, Operand, RTarget });

const comparisons = [
  rule('${attr.size}', '>=', '2'),
  rule('${attr.size}', '<', '10'),
  rule('${attr.size}', '!=', '2'),
  rule('${attr.size}', '=', '1'),
  rule('${attr.size}', 'is', '${attr.size}'),
  rule('${attr.version}', 'version', '>= 1.2, < 2'),
  rule('${attr.version}', 'semver', '>= 1.2.0'),
  rule('${attr.version}', 'is_set', ''),
  rule('${attr.tags}', 'is_not_set', ''),
  rule('${attr.tags}', 'set_contains', 'b'),
  rule('${attr.tags}', 'set_contains_any', 'a,x'),
  rule('${attr.tags}', 'set_contains_all', 'b,c'),
  rule('${attr.size}', 'regexp', '^[12]$'),
  rule('${node.unique.id}', '!=', 'n1'),
  rule('${meta.unique.slot}', 'not', 's1'),
  rule('${node.class}', '=', 'large'),
];

const distinct = [
  rule('', 'distinct_hosts', ''),
  rule('', 'distinct_hosts', 'false'),
  rule('${meta.rack}', 'distinct_property', '2'),
  rule('${node.datacenter}', 'distinct_property', '3'),
  rule('${meta.unique.slot}', 'distinct_property', ''),
];

const constraints = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 2, arbitrary: fc.array(fc.constantFrom(...comparisons), { maxLength: 2 }) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...distinct), { maxLength: 2 }) },
);

const affinity = fc.record({
  LTarget: fc.constantFrom('${meta.rack}', '${node.datacenter}', '${meta.unique.slot}'),
  Operand: fc.constantFrom('=', '!='),
  RTarget: fc.constantFrom('r1', 'dc1', 's1'),
  Weight: fc.constantFrom(-50, 25, 100),
});

const spread = fc.record({
  Attribute: fc.constantFrom(
    '${meta.rack}',
    '${meta.rack}',
    '${node.datacenter}',
    '${node.unique.id}',
  ),
  Weight: fc.constantFrom(20, 50, 100),
  SpreadTarget: fc.oneof(
    fc.constant([]),
    fc.array(
      fc.record({
        Value: fc.constantFrom('r1', 'r2', 'dc1', 'dc2', '*', 'n2'),
        Percent: fc.constantFrom(0, 20, 50),
      }),
      { maxLength: 3 },
    ),
  ),
});

const networks = fc.constantFrom(
  [],
  [],
  [{ DynamicPorts: [{ Label: 'a' }] }],
  [{ DynamicPorts: [{ Label: 'a' }, { Label: 'b', HostNetwork: 'eth1' }] }],
  [{ ReservedPorts: [{ Label: 's', Value: 20_001 }], DynamicPorts: [{ Label: 'a' }] }],
  [{ ReservedPorts: [{ Label: 's', Value: 8080 }] }],
  [{ ReservedPorts: [{ Label: 's', Value: 8080, IgnoreCollision: true }] }],
);

const deviceRules = {
  Constraints: sometimes(
    [],
    fc.array(
      fc.constantFrom(
        rule('${device.attr.memory}', '>=', '5 GiB'),
        rule('${device.attr.memory}', '!=', '4 GiB'),
        rule('${device.vendor}', '=', 'acme'),
        rule('${device.model}', 'regexp', '^a'),
        rule('${device.ids}', 'set_contains_any', 'a1-0,a2-1,b-0'),
        rule('${device.ids}', '!=', 'a1-0'),
      ),
      { minLength: 1, maxLength: 2 },
    ),
    1,
  ),
  Affinities: sometimes(
    [],
    fc.array(
      fc.record({
        LTarget: fc.constantFrom('${device.attr.memory}', '${device.attr.none}'),
        Operand: fc.constant('>'),
        RTarget: fc.constantFrom('4 GiB', '7.5 GB'),
        Weight: fc.constantFrom(-25, 50, 100),
      }),
      { minLength: 1, maxLength: 2 },
    ),
    1,
  ),
};

const deviceRequests = fc.array(
  fc.record({
    Name: fc.constantFrom('gpu', 'gpu', 'acme/gpu', 'acme/gpu/a2', 'fpga'),
    Count: fc.constantFrom(1, 1, 2),
    ...deviceRules,
  }),
  { minLength: 1, maxLength: 2 },
);

const group = fc.record({
  Count: fc.integer({ min: 1, max: 8 }),
  Constraints: constraints,
  Affinities: sometimes([], fc.array(affinity, { maxLength: 2 }), 2),
  Spreads: sometimes([], fc.array(spread, { maxLength: 1 }), 3),
  EphemeralDisk: fc.record({
    SizeMB: fc.constantFrom(10, 35),
    Sticky: sometimes(false, fc.constant(true)),
  }),
  Networks: networks,
  tasks: fc.array(
    fc.record({
      CPU: fc.constantFrom(50, 100, 250),
      MemoryMB: fc.constantFrom(50, 100, 250),
      Cores: sometimes(0, fc.constantFrom(1, 2), 6),
      Devices: sometimes([], deviceRequests, 12),
      Lifecycle: sometimes<{ Hook: 'prestart' | 'poststop'; Sidecar: boolean } | null>(
        null,
        fc.record({ Hook: fc.constantFrom('prestart', 'poststop'), Sidecar: fc.boolean() }),
      ),
      port: sometimes(false, fc.constant(true), 8),
    }),
    { minLength: 1, maxLength: 2 },
  ),
});

const job = fc.record({
  Datacenters: fc.constantFrom(['*'], ['*'], ['dc1', 'eu-?'], ['dc*']),
  NodePool: sometimes('default', fc.constantFrom('gpu', 'all')),
  Constraints: constraints,
  Affinities: sometimes([], fc.array(affinity, { maxLength: 1 })),
  Spreads: sometimes([], fc.array(spread, { maxLength: 2 }), 1),
  groups: fc.array(group, { minLength: 1, maxLength: 2 }),
});

const jobFields = ['Datacenters', 'NodePool', 'Constraints', 'Affinities', 'Spreads'] as const;
const groupFields = [
  'Constraints',
  'Affinities',
  'Spreads',
  'EphemeralDisk',
  'Networks',
  'tasks',
] as const;

type JobWish = Parameters<Parameters<typeof job.map>[0]>[0];

const jobOf = (position: number, { groups, ...wish }: JobWish): Job =>
  makeJob({
    ID: `job${position}`,
    ...wish,
    TaskGroups: groups.map(({ tasks, ...fields }, number) =>
      makeGroup({
        ...fields,
        Name: `g${number}`,
        Tasks: tasks.map(({ Lifecycle, port, ...Resources }, at) => ({
          ...makeTask({
            Name: `t${at}`,
            Lifecycle,
            Resources: {
              ...Resources,
              ...(port && { Networks: [{ DynamicPorts: [{ Label: `t${at}` }] }] }),
            },
          }),
        })),
      }),
    ),
  });

/** An event, with numbers that pick the node or allocation concerned. */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('evaluate' as const),
      job: fc.nat({ max: 2 }),
      fates: fc.array(fc.nat({ max: 9 }), { minLength: 6, maxLength: 6 }),
      fresh: fc.nat({ max: 4 }),
      algorithm: fc.constantFrom('binpack' as const, 'binpack' as const, 'spread' as const),
      runs: fc.boolean(),
      isRefused: sometimes(false, fc.constant(true)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('report' as const),
      which: fc.nat({ max: 40 }),
      status: fc.constantFrom('running', 'complete', 'failed', 'lost', 'gone'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('node' as const),
      which: fc.nat({ max: 9 }),
      change: fc.oneof(
        node,
        fc.constantFrom('gone' as const, 'told again' as const, 'closed' as const),
        fc.record({ larger: size }),
      ),
    }),
  },
);

type Step = Parameters<Parameters<typeof step.map>[0]>[0];
type Evaluate = Extract<Step, { kind: 'evaluate' }>;

/**
 * Nodes of a few kinds, so that some share their computed class and differ in what is their own.
 */
const fleet = fc
  .record({
    kinds: fc.array(node, { minLength: 1, maxLength: 3 }),
    nodes: fc.array(
      fc.record({ kind: fc.nat({ max: 2 }), cpu: size, slot: fc.constantFrom('s1', 's2', '') }),
      { minLength: 2, maxLength: 8 },
    ),
  })
  .map(({ kinds, nodes }) =>
    nodes.map(({ kind, cpu, slot }): NodeWish => {
      const wish = kinds[kind % kinds.length]!;
      const { 'unique.slot': _, ...Meta } = wish.Meta;
      return { ...wish, cpu, Meta: slot === '' ? Meta : { ...Meta, 'unique.slot': slot } };
    }),
  );

/** A job, and two others that each differ from it in a single respect. */
const jobs = fc
  .record({
    base: job,
    other: job,
    fields: fc.tuple(...[1, 2].map(() => fc.constantFrom(...jobFields))),
    groupFields: fc.tuple(
      ...[1, 2].map(() => fc.constantFrom(undefined, 'Lifecycle', ...groupFields)),
    ),
  })
  .map(({ base, other, fields, groupFields }) => [
    base,
    ...fields.map((field, at): JobWish => {
      const groupField = groupFields[at];
      if (groupField === undefined) return { ...base, [field]: other[field] };
      const [first, ...rest] = base.groups;
      const [source] = other.groups;
      const { Lifecycle } = source!.tasks[0]!;
      const [task, ...tasks] = first!.tasks;
      const changed =
        groupField === 'Lifecycle'
          ? { ...first!, tasks: [{ ...task!, Lifecycle }, ...tasks] }
          : { ...first!, [groupField]: source![groupField] };
      return { ...base, groups: [changed, ...rest] };
    }),
  ]);

const story = fc.record({
  nodes: fleet,
  jobs,
  steps: fc.array(step, { minLength: 2, maxLength: 14 }),
});

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
  seed: number,
  kept: boolean,
): readonly GroupPlacement[] {
  const session = kept ? cluster.memory.begin(cluster) : undefined;
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
    placer.stop({
      allocationId: stop.ID,
      nodeId: stop.NodeID,
      desiredStatus: 'stop',
      desiredDescription: '',
    });
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
  test('every choice equals that of a scheduler without memory and shortcuts', () => {
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
          const placed = carryOut(cluster, wanted, plan, number, true);
          const anew = carryOut(cluster, wanted, plan, number, false);
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
])('of the rules that a node fails, the first is told', (Constraints) => {
  const cluster = new NotedCluster();
  for (const id of ['n1', 'n2']) cluster.putNode(makeNode(id, { Attributes: { size: '1' } }));
  const job = makeJob({ Constraints });
  const request = { kind: 'new' as const, name: 'a', previous: undefined, stop: undefined };
  const placements = [{ ...request, delayNs: 0, deploymentId: '', isCanary: false }];
  const plan = { stops: [], groups: [{ group: job.TaskGroups[0]!, requests: placements }] };
  const [placed] = carryOut(cluster, job, plan, 1, true);
  const { LTarget, Operand, RTarget } = Constraints[0]!;
  expect(placed!.failure).toMatchObject({
    NodesEvaluated: 2,
    NodesFiltered: 2,
    ConstraintFiltered: { [`${LTarget} ${Operand} ${RTarget}`]: 2 },
  });
});
