import { describe, expect, test } from 'vitest';
import { makeGroup, makeJob, makeNode, makeTask, type NodeWish } from '../cluster.test-helper.ts';
import { compileGlob, escapesClass, firstFailed, rulesFor } from './feasibility.ts';

const constraint = (LTarget: string, Operand: string, RTarget: string) => ({
  LTarget,
  Operand,
  RTarget,
});

const job = makeJob({
  Datacenters: ['dc1', 'eu-*'],
  NodePool: 'gpu',
  Constraints: [constraint('${attr.kernel}', '=', 'linux')],
  TaskGroups: [
    makeGroup({
      Constraints: [constraint('${meta.rack}', 'is_set', '')],
      Tasks: [makeTask({ Constraints: [constraint('${node.unique.name}', '!=', 'name-bad')] })],
      Networks: [
        {
          Mode: 'host',
          DynamicPorts: [{ Label: 'http' }, { Label: 'admin', HostNetwork: 'eth1' }],
        },
      ],
    }),
  ],
});

const network = (Device: string, Mode = 'host') => ({
  Mode,
  Device,
  IP: '10.0.0.1',
  CIDR: '',
  MBits: 0,
});

/** A node that passes every rule. */
const good = {
  NodePool: 'gpu',
  Datacenter: 'eu-west',
  Attributes: { kernel: 'linux' },
  Meta: { rack: 'r1' },
  networks: [network('eth0'), network('eth1')],
};

function nodeWith(changes: NodeWish & { networks?: ReturnType<typeof network>[]; id?: string }) {
  const { networks, id = 'n1', ...wish } = { ...good, ...changes };
  const node = makeNode(id, wish);
  return { ...node, NodeResources: { ...node.NodeResources, Networks: networks } };
}

describe('the rule table, in the order of the checks', () => {
  test.each<[string, Parameters<typeof nodeWith>[0], string]>([
    ['status', { Status: 'down', NodePool: 'x' }, 'node is not ready and eligible'],
    ['drain', { Drain: true }, 'node is not ready and eligible'],
    ['eligibility', { SchedulingEligibility: 'ineligible' }, 'node is not ready and eligible'],
    ['pool', { NodePool: 'default', Datacenter: 'dc9' }, 'node pool is not "gpu"'],
    ['datacenter', { Datacenter: 'us', Attributes: {} }, 'datacenter is not one of dc1, eu-*'],
    ['job constraint', { Attributes: {}, Meta: {} }, '${attr.kernel} = linux'],
    ['group constraint', { Meta: {}, id: 'bad' }, '${meta.rack} is_set'],
    ['task constraint', { id: 'bad', networks: [] }, '${node.unique.name} != name-bad'],
    ['network', { networks: [] }, 'missing network'],
    ['network mode', { networks: [network('eth0', 'bridge')] }, 'missing network'],
    [
      'host network',
      { networks: [network('eth0')] },
      'missing host network "eth1" for port "admin"',
    ],
  ])('%s', (_, changes, text) => {
    expect(firstFailed(rulesFor(job, job.TaskGroups[0]!), nodeWith(changes))?.text).toBe(text);
  });

  test('a node that lacks nothing', () => {
    expect(firstFailed(rulesFor(job, job.TaskGroups[0]!), nodeWith({}))).toBeUndefined();
  });

  test.each<[string, object, string, string?]>([
    ['not detected', { raw_exec: { Detected: false, Healthy: true } }, 'missing'],
    ['unhealthy', { raw_exec: { Detected: true, Healthy: false } }, 'unhealthy'],
    ['absent', {}, 'missing'],
    [
      'absent, with a reason',
      { raw_exec: { Detected: false, Healthy: false, HealthDescription: 'not here' } },
      'missing',
      ': not here',
    ],
  ])('driver %s', (_, drivers, word, reason = '') => {
    const info = Object.fromEntries(
      Object.entries(drivers).map(([name, flags]) => [
        name,
        { HealthDescription: '', Attributes: {}, UpdateTime: 0, ...flags },
      ]),
    );
    const node = { ...nodeWith({}), Drivers: info, ComputedClass: '' };
    const failed = firstFailed(rulesFor(job, job.TaskGroups[0]!), node)!;
    expect([failed.text, failed.explain!(node)]).toEqual([
      'missing drivers',
      `${word} driver raw_exec${reason}`,
    ]);
  });

  test.each([
    [
      'devices',
      { Tasks: [makeTask({ Resources: { Devices: [{ Name: 'gpu' }] } })] },
      'missing devices',
    ],
    [
      'host volume',
      { Volumes: { d: { Type: 'host', Source: 's' } } },
      'missing compatible host volumes',
    ],
    ['storage plugin', { Volumes: { d: { Type: 'csi', Source: 's' } } }, 'missing storage plugin'],
  ])('no node offers %s', (_, fields, text) => {
    const wanting = makeJob({ TaskGroups: [makeGroup(fields)] });
    const rules = rulesFor(wanting, wanting.TaskGroups[0]!);
    expect(firstFailed(rules, makeNode('n1'))?.text).toBe(text);
  });

  const volume = (fields: object) => ({ d: { Type: 'host', Source: 'data', ...fields } });
  const offer = (...names: string[]) =>
    Object.fromEntries(
      names.map((name) => [
        name.replace('!', ''),
        { Path: '/srv', ReadOnly: name.startsWith('!') },
      ]),
    );
  test.each<[string, object, object, string | undefined]>([
    ['does not exist', volume({}), {}, 'missing host volume data'],
    ['has another name', volume({}), offer('date'), 'missing host volume data'],
    [
      'has the name of a property of every object',
      volume({ Source: 'toString' }),
      {},
      'missing host volume toString',
    ],
    ['is there', volume({}), offer('data'), undefined],
    ['is read-only and is written', volume({}), offer('!data'), 'host volume data is read-only'],
    ['is read-only and is only read', volume({ ReadOnly: true }), offer('!data'), undefined],
    [
      'is one of two, and the other is missing',
      { ...volume({}), e: { Type: 'host', Source: 'logs' } },
      offer('data'),
      'missing host volume logs',
    ],
    [
      'is missing for one allocation',
      volume({ PerAlloc: true }),
      offer('data', 'data[0]'),
      'missing host volume data[1]',
    ],
    [
      'exists for all allocations',
      volume({ PerAlloc: true }),
      offer('data[0]', 'data[1]'),
      undefined,
    ],
    [
      'exists, with a volume of a plugin that does not',
      { ...volume({}), e: { Type: 'csi', Source: 's' } },
      offer('data'),
      'missing storage plugin',
    ],
  ])('a host volume that %s', (_, Volumes, HostVolumes, reason) => {
    const wanting = makeJob({ TaskGroups: [makeGroup({ Count: 2, Volumes })] });
    const node = makeNode('n1', { HostVolumes });
    const failed = firstFailed(rulesFor(wanting, wanting.TaskGroups[0]!), node);
    expect(failed?.explain?.(node) ?? failed?.text).toBe(reason);
  });

  test('a node without a list of volumes has none', () => {
    const wanting = makeJob({ TaskGroups: [makeGroup({ Volumes: volume({}) })] });
    const { HostVolumes: _, ...node } = makeNode('n1');
    const failed = firstFailed(rulesFor(wanting, wanting.TaskGroups[0]!), node as never);
    expect(failed?.text).toBe('missing compatible host volumes');
  });

  test('the pool "all" is every pool', () => {
    const everywhere = makeJob({ NodePool: 'all' });
    const rules = rulesFor(everywhere, everywhere.TaskGroups[0]!);
    expect(firstFailed(rules, makeNode('n1', { NodePool: 'odd' }))).toBeUndefined();
  });
});

test('a class shares a verdict only if no unique attribute is concerned', () => {
  const rules = rulesFor(job, job.TaskGroups[0]!);
  const first = nodeWith({ id: 'n1' });
  const bad = nodeWith({ id: 'bad' });
  expect(bad.ComputedClass).toBe(first.ComputedClass);
  expect(firstFailed(rules, first)).toBeUndefined();
  expect(firstFailed(rules, bad)?.text).toBe('${node.unique.name} != name-bad');
  expect(escapesClass(rules)).toBe(true);
  const plain = makeJob();
  expect(escapesClass(rulesFor(plain, plain.TaskGroups[0]!))).toBe(false);
});

describe('globs', () => {
  test.each<[string, string, boolean]>([
    ['*', '', true],
    ['dc1', 'dc1', true],
    ['dc1', 'dc10', false],
    ['dc*', 'dc10', true],
    ['*-west', 'eu-north-west', true],
    ['*-west', 'eu-west-1', false],
    ['a*b*c', 'a-b-b-c', true],
    ['d?1', 'dc1', true],
    ['d?1', 'd1', false],
    ['d.1', 'dc1', false],
    ['', 'dc1', false],
  ])('%s on %s: %s', (glob, text, expected) => {
    expect(compileGlob(glob)(text)).toBe(expected);
  });
});
