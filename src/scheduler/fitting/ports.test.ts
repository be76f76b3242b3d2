import { describe, expect, test } from 'vitest';
import type { AllocatedResources } from '../../model/allocation/allocated-resources.ts';
import { makeGroup, makeJob, makeNode, makeTask, TestCluster } from '../cluster.test-helper.ts';
import { occupancyOf } from './occupancy.ts';
import { PlannedNode } from './planned-node.ts';
import { parsePortList, portsOf } from './ports.ts';
import { askOf } from './resources.ts';

const askFor = (network: object) =>
  askOf(makeJob({ TaskGroups: [makeGroup({ Networks: [network] })] }).TaskGroups[0]!);

const values = (planned: PlannedNode, network: object): unknown => {
  const fit = planned.fit(askFor(network));
  return fit.fits ? portsOf(fit.resources).map((port) => port.Value) : fit.dimension;
};

/** Places an allocation with the ask; returns its resources. */
function give(planned: PlannedNode, network: object): AllocatedResources {
  const fit = planned.fit(askFor(network));
  if (!fit.fits) throw new Error(fit.dimension);
  planned.add(fit.resources);
  return fit.resources;
}

const take = (planned: PlannedNode, network: object): readonly number[] =>
  portsOf(give(planned, network)).map((port) => port.Value);

const dynamic = (...labels: string[]) => ({ DynamicPorts: labels.map((Label) => ({ Label })) });
const fixed = (Value: number, more: object = {}) => ({
  ReservedPorts: [{ Label: 'http', Value, ...more }],
});
const vacant = occupancyOf(() => []);
const small = () => makeNode('n1', { ports: [20_000, 20_003], reservedPorts: '20001, 80' });

describe('dynamic ports', () => {
  test('begin at the start, continue behind the last port, skip reserved ports and wrap', () => {
    const planned = new PlannedNode(small(), vacant, 20_002);
    expect(take(planned, dynamic('x'))).toEqual([20_002]);
    expect(take(planned, dynamic('x', 'y'))).toEqual([20_003, 20_000]);
    expect(values(planned, dynamic('x'))).toBe('network: dynamic port selection failed');
  });

  test('a predecessor’s ports go only to its replacement, as a last resort', () => {
    const planned = new PlannedNode(small(), vacant, 20_000);
    const first = give(planned, dynamic('x'));
    const second = give(planned, dynamic('x'));
    const replace = (previous: AllocatedResources) => {
      planned.lend(previous);
      const given = take(planned, dynamic('x'));
      planned.endLending();
      return given;
    };
    expect(replace(first)).toEqual([20_003]);
    expect(values(planned, dynamic('x'))).toBe('network: dynamic port selection failed');
    expect(replace(second)).toEqual([20_002]);
  });

  test('any start leads into the range', () => {
    expect(values(new PlannedNode(small(), vacant, 0), dynamic('x'))).toEqual([20_000]);
    expect(values(new PlannedNode(small(), vacant, 4_294_967_295), dynamic('x'))).toEqual([20_003]);
  });

  test('static ports of the same ask come first', () => {
    const planned = new PlannedNode(small(), vacant, 20_000);
    expect(values(planned, { ...fixed(20_000), ...dynamic('x') })).toEqual([20_000, 20_002]);
  });
});

describe('static ports', () => {
  test.each<[string, object, unknown]>([
    ['free', fixed(8080), [8080]],
    ['reserved by the node', fixed(80), 'network: reserved port collision http=80'],
    ['taken', fixed(9000), 'network: reserved port collision http=9000'],
    ['taken, but ignoring collisions', fixed(9000, { IgnoreCollision: true }), [9000]],
    ['on another address', fixed(9000, { HostNetwork: 'eth1' }), [9000]],
    [
      'twice in the same ask',
      {
        ReservedPorts: [
          { Label: 'a', Value: 81 },
          { Label: 'b', Value: 81 },
        ],
      },
      'network: reserved port collision b=81',
    ],
  ])('%s', (_, network, expected) => {
    const node = small();
    const Networks = [
      { Mode: 'host', Device: 'eth0', IP: '10.0.0.1', CIDR: '', MBits: 0 },
      { Mode: 'host', Device: 'eth1', IP: '10.0.1.1', CIDR: '', MBits: 0 },
    ];
    const planned = new PlannedNode(
      { ...node, NodeResources: { ...node.NodeResources, Networks } },
      vacant,
    );
    take(planned, fixed(9000));
    expect(values(planned, network)).toEqual(expected);
  });
});

test('the whole record of a port', () => {
  const fit = new PlannedNode(makeNode('n1'), vacant, 20_005).fit(
    askFor({
      ReservedPorts: [{ Label: 'a', Value: 80, To: 8080 }],
      DynamicPorts: [{ Label: 'b', To: -1 }, { Label: 'c' }],
    }),
  );
  const common = { HostIP: '10.0.0.1', HostNetwork: 'default' };
  expect(fit.fits && fit.resources.Shared.Ports).toEqual([
    { Label: 'a', Value: 80, To: 8080, ...common },
    { Label: 'b', Value: 20_005, To: 20_005, ...common },
    { Label: 'c', Value: 20_006, To: 0, ...common },
  ]);
});

test.each<[string, readonly number[]]>([
  ['', []],
  ['22', [22]],
  ['22, 80-82', [22, 80, 81, 82]],
  ['90-80,x,70000-99999', []],
])('the list "%s" is %j', (text, expected) => {
  expect([...parsePortList(text)]).toEqual(expected);
});

test('two evaluations do not begin at the same port', () => {
  const ports = ['e1', 'e2'].map((ID) => {
    const cluster = new TestCluster([makeNode('n1')]);
    cluster.putJob(makeJob({ TaskGroups: [makeGroup({ Networks: [dynamic('x')] })] }));
    return cluster.decide({ ID }).plan.placements[0]!.AllocatedResources.Shared.Ports![0]!.Value;
  });
  expect(ports[0]).not.toBe(ports[1]);
});

test('reserved cores', () => {
  const node = makeNode('n1', { cpu: 4000, cores: [0, 1, 2] });
  const tasks = [1, 2].map((Cores, index) => ({
    Name: `t${index}`,
    Driver: 'raw_exec',
    Resources: { Cores, MemoryMB: 10 },
  }));
  const ask = askOf(makeJob({ TaskGroups: [makeGroup({ Tasks: tasks })] }).TaskGroups[0]!);
  const planned = new PlannedNode(node, vacant);
  const fit = planned.fit(ask);
  expect(fit.fits && fit.resources.Tasks.t1!.Cpu).toEqual({
    CpuShares: 2000,
    ReservedCores: [1, 2],
  });
  if (fit.fits) planned.add(fit.resources);
  const one = askOf(makeJob({ TaskGroups: [makeGroup({ Tasks: [tasks[0]!] })] }).TaskGroups[0]!);
  expect(planned.fit(one)).toEqual({ fits: false, dimension: 'cores' });
});

test('resources of tasks that never run at the same time are not added up', () => {
  const task = (Name: string, CPU: number, Lifecycle: object | null = null) => ({
    Name,
    Driver: 'raw_exec',
    Lifecycle,
    Resources: { CPU, MemoryMB: 10 },
  });
  const group = makeGroup({
    Tasks: [
      task('before', 500, { Hook: 'prestart' }),
      task('beside', 100, { Hook: 'prestart', Sidecar: true }),
      task('main', 300),
      task('started', 50, { Hook: 'poststart' }),
      task('after', 200, { Hook: 'poststop' }),
    ],
  });
  const fit = new PlannedNode(makeNode('n1'), vacant).fit(
    askOf(makeJob({ TaskGroups: [group] }).TaskGroups[0]!),
  );
  expect(fit.fits && fit.need).toEqual({ cpu: 600, memory: 30, disk: 10, cores: 0 });
});

describe('a replacement on the node of its predecessor', () => {
  const ask = (CPU: number) =>
    askOf(
      makeJob({ TaskGroups: [makeGroup({ Tasks: [makeTask({ Resources: { CPU } })] })] })
        .TaskGroups[0]!,
    );
  const place = (planned: PlannedNode, cpu: number): AllocatedResources | undefined => {
    const fit = planned.fit(ask(cpu));
    if (fit.fits) planned.add(fit.resources);
    return fit.fits ? fit.resources : undefined;
  };

  test.each<[string, number, boolean, number]>([
    ['as large: takes its predecessor’s place', 600, true, 1000],
    ['smaller: the rest is free only once the predecessor has ended', 100, true, 1000],
    ['larger than predecessor and free resources together', 601, false, 1000],
  ])('%s', (_, cpu, fits, used) => {
    const planned = new PlannedNode(makeNode('n1'), vacant);
    const old = place(planned, 600)!;
    place(planned, 400);
    planned.lend(old);
    expect(place(planned, cpu) !== undefined).toBe(fits);
    planned.endLending();
    expect(planned.used.cpu).toBe(used);
  });
});
