/** Random nodes, jobs and events for property tests of placement. */
import fc from 'fast-check';
import type { Job } from '../../model/job/job.ts';
import type { Node } from '../../model/node/node.ts';
import { makeGroup, makeJob, makeNode, makeTask } from '../cluster.test-helper.ts';

export const sometimes = <T>(likely: T, rare: fc.Arbitrary<T>, weight = 4): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: fc.constant(likely) }, { weight: 1, arbitrary: rare });

export const size = fc.constantFrom(300, 500, 1000);

export const attribute = (Int: number, Unit: string) => ({
  Int,
  Unit,
  Float: null,
  String: null,
  Bool: null,
});

export const device = fc.record({
  make: fc.constantFrom(
    { Vendor: 'acme', Type: 'gpu', Name: 'a1', Attributes: { memory: attribute(4096, 'MiB') } },
    { Vendor: 'acme', Type: 'gpu', Name: 'a2', Attributes: { memory: attribute(8, 'GiB') } },
    { Vendor: 'other', Type: 'gpu', Name: 'b', Attributes: { memory: attribute(8, 'GB') } },
    { Vendor: 'acme', Type: 'fpga', Name: 'f', Attributes: {} },
  ),
  healthy: fc.array(fc.constantFrom(true, true, true, false), { minLength: 1, maxLength: 3 }),
});

export const devices = fc.uniqueArray(device, { selector: ({ make }) => make.Name, maxLength: 3 });

export const devicesOf = (wishes: Parameters<Parameters<typeof devices.map>[0]>[0]) =>
  wishes.map(({ make, healthy }) => ({
    ...make,
    Instances: healthy.map((Healthy, number) => ({
      ID: `${make.Name}-${number}`,
      Healthy,
      HealthDescription: '',
      Locality: null,
    })),
  }));

export const node = fc.record({
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

export type NodeWish = Parameters<Parameters<typeof node.map>[0]>[0];

export const nodeOf = (position: number, { second, devices: wanted, ...wish }: NodeWish): Node => {
  const made = makeNode(`n${position}`, { ...wish, devices: devicesOf(wanted) });
  const more = { Mode: 'host', Device: 'eth1', IP: '10.0.1.1', CIDR: '', MBits: 0 };
  const Networks = [...made.NodeResources.Networks, ...(second ? [more] : [])];
  return { ...made, NodeResources: { ...made.NodeResources, Networks } };
};

export const rule = (LTarget: string, Operand: string, RTarget: string) => ({
  LTarget,
  Operand,
  RTarget,
});

export const comparisons = [
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

export const distinct = [
  rule('', 'distinct_hosts', ''),
  rule('', 'distinct_hosts', 'false'),
  rule('${meta.rack}', 'distinct_property', '2'),
  rule('${node.datacenter}', 'distinct_property', '3'),
  rule('${meta.unique.slot}', 'distinct_property', ''),
];

export const constraints = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 2, arbitrary: fc.array(fc.constantFrom(...comparisons), { maxLength: 2 }) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...distinct), { maxLength: 2 }) },
);

export const affinity = fc.record({
  LTarget: fc.constantFrom('${meta.rack}', '${node.datacenter}', '${meta.unique.slot}'),
  Operand: fc.constantFrom('=', '!='),
  RTarget: fc.constantFrom('r1', 'dc1', 's1'),
  Weight: fc.constantFrom(-50, 25, 100),
});

export const spread = fc.record({
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

export const networks = fc.constantFrom(
  [],
  [],
  [{ DynamicPorts: [{ Label: 'a' }] }],
  [{ DynamicPorts: [{ Label: 'a' }, { Label: 'b', HostNetwork: 'eth1' }] }],
  [{ ReservedPorts: [{ Label: 's', Value: 20_001 }], DynamicPorts: [{ Label: 'a' }] }],
  [{ ReservedPorts: [{ Label: 's', Value: 8080 }] }],
  [{ ReservedPorts: [{ Label: 's', Value: 8080, IgnoreCollision: true }] }],
);

export const deviceRules = {
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

export const deviceRequests = fc.array(
  fc.record({
    Name: fc.constantFrom('gpu', 'gpu', 'acme/gpu', 'acme/gpu/a2', 'fpga'),
    Count: fc.constantFrom(1, 1, 2),
    ...deviceRules,
  }),
  { minLength: 1, maxLength: 2 },
);

export const group = fc.record({
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

export const job = fc.record({
  Datacenters: fc.constantFrom(['*'], ['*'], ['dc1', 'eu-?'], ['dc*']),
  NodePool: sometimes('default', fc.constantFrom('gpu', 'all')),
  Constraints: constraints,
  Affinities: sometimes([], fc.array(affinity, { maxLength: 1 })),
  Spreads: sometimes([], fc.array(spread, { maxLength: 2 }), 1),
  groups: fc.array(group, { minLength: 1, maxLength: 2 }),
});

export const jobFields = [
  'Datacenters',
  'NodePool',
  'Constraints',
  'Affinities',
  'Spreads',
] as const;
export const groupFields = [
  'Constraints',
  'Affinities',
  'Spreads',
  'EphemeralDisk',
  'Networks',
  'tasks',
] as const;

export type JobWish = Parameters<Parameters<typeof job.map>[0]>[0];

export const jobOf = (position: number, { groups, ...wish }: JobWish): Job =>
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
export const step = fc.oneof(
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

export type Step = Parameters<Parameters<typeof step.map>[0]>[0];
export type Evaluate = Extract<Step, { kind: 'evaluate' }>;

/** Nodes of a few kinds, so that some share a computed class and differ only in unique attributes. */
export const fleet = fc
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

/** A job, and two jobs that each differ from it in a single respect. */
export const jobs = fc
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

export const story = fc.record({
  nodes: fleet,
  jobs,
  steps: fc.array(step, { minLength: 2, maxLength: 14 }),
});
