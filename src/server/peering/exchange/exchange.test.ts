import { beforeEach, describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../../base/ports-simulated.ts';
import type { ExchangeFrame } from '../../../model/peering/exchange.ts';
import { peerings } from '../../../state/tables.ts';
import type { OpenExchange } from '../exchange.ts';
import type { ExchangeBounds } from './bounds.ts';
import { Cluster, rule, TestStream } from './clusters.test-helper.ts';

let world: SimulatedWorld;
let a: Cluster;
let b: Cluster;
const open = async (bounds: Partial<ExchangeBounds> = {}) => {
  world = new SimulatedWorld(1);
  a = await Cluster.open(world, bounds);
  b = await Cluster.open(world, bounds);
  await done([a.peer('b'), b.peer('a')]);
};
const done = (work: readonly Promise<unknown>[]) => Promise.all([...work, world.advance(0)]);
beforeEach(() => open());

/** The other side of a stream, driven by hand. */
function hostile(cluster = b) {
  const sent: ExchangeFrame[] = [];
  const faults: string[] = [];
  const end: OpenExchange = cluster.exchange.open({
    peering: { partition: 'default', name: 'a', id: 'to-a' },
    send: (frame) => sent.push(frame) > 0,
    fail: (reason) => void faults.push(reason),
  });
  const say = async (...frames: unknown[]) => {
    for (const frame of frames) end.receive(frame);
    await world.advance(0);
  };
  return { sent, faults, end, say };
}

const instance = (changes: object = {}) => ({
  namespace: 'default',
  name: 'web',
  id: '1',
  address: '10.0.0.1',
  port: 80,
  tags: ['x'],
  meta: { k: 'v' },
  weights: { passing: 1, warning: 1 },
  datacenter: 'dc1',
  status: 'passing',
  ...changes,
});
const service = (changes: object = {}) => ({
  namespace: 'default',
  name: 'web',
  protocol: 'tcp',
  ...changes,
});
const change = (id: number, changes: object = {}) => ({
  type: 'change',
  id,
  services: [],
  instances: [],
  removedServices: [],
  removedInstances: [],
  ...changes,
});
const begin = { type: 'begin' };
const complete = { type: 'complete' };

describe('a peer that is told', () => {
  test('sees an instance as one of its own, without node, job and allocation', async () => {
    await done([
      a.export([rule('web', 'b')]),
      a.protocol('web', 'http'),
      a.register({
        name: 'web',
        id: '1',
        status: 'warning',
        changes: { Tags: ['x'], Meta: { k: 'v' }, Weights: { Passing: 3, Warning: 0 } },
      }),
      a.register({ name: 'api', id: '2' }),
    ]);
    new TestStream(world, [a, b]);
    await world.advance(0);
    expect(b.servicesFrom('a')).toEqual(['default/web http']);
    expect(b.importedFrom('a')).toEqual([
      {
        ID: '1',
        ServiceName: 'web',
        Namespace: 'default',
        Status: 'warning',
        TaskName: '',
        NodeID: '',
        JobID: '',
        AllocID: '',
        Datacenter: 'dc1',
        TaggedAddresses: null,
        Address: '10.0.0.1',
        Port: 80,
        Tags: ['x'],
        Meta: { k: 'v' },
        Weights: { Passing: 3, Warning: 0 },
        Partition: 'default',
        Peer: 'a',
        CreateIndex: expect.any(Number),
        ModifyIndex: expect.any(Number),
      },
    ]);
  });

  test('is told of changes alone', async () => {
    await done([
      a.export([rule('*', 'b')]),
      ...['1', '2', '3'].map((id) => a.register({ name: 'web', id })),
    ]);
    const stream = new TestStream(world, [a, b]);
    await world.advance(0);
    stream.frames.length = 0;
    await done([a.register({ name: 'web', id: '2', status: 'critical' })]);
    expect(stream.frames).toEqual([
      expect.objectContaining({ services: [], instances: [expect.objectContaining({ id: '2' })] }),
      { type: 'acknowledge', id: 2 },
    ]);
    stream.frames.length = 0;
    await done([a.remove({ name: 'web', id: '2' })]);
    expect(stream.frames[0]).toEqual(
      change(3, { removedInstances: [{ namespace: 'default', name: 'web', id: '2' }] }),
    );
    expect(b.importedFrom('a').map(({ ID }) => ID)).toEqual(['1', '3']);
  });

  test('gets everything again on a new stream, and writes only differences', async () => {
    await done([a.export([rule('*', 'b')]), a.register({ name: 'web', id: '1' })]);
    new TestStream(world, [a, b]);
    await world.advance(0);
    const { index } = b.state.read();
    const stream = new TestStream(world, [a, b]);
    await world.advance(0);
    expect(stream.frames.filter(({ type }) => type === 'complete')).toHaveLength(2);
    expect(b.state.read().index).toBe(index);
  });

  test('loses services exported by `*` alone, and keeps services exported by name', async () => {
    await done([
      a.export([rule('*', 'b'), rule('api', 'b')]),
      a.register({ name: 'web', id: '1' }),
      a.register({ name: 'api', id: '1' }),
    ]);
    new TestStream(world, [a, b]);
    await world.advance(0);
    await done([a.remove({ name: 'web', id: '1' }), a.remove({ name: 'api', id: '1' })]);
    expect(b.servicesFrom('a')).toEqual(['default/api tcp']);
    expect(b.importedFrom('a')).toEqual([]);
  });

  test('sees with `*` services that only entries route, with its protocol, as it comes and goes', async () => {
    await done([a.export([rule('*', 'b')]), a.route('service-splitter', 'old', true)]);
    const stream = new TestStream(world, [a, b]);
    await world.advance(0);
    expect(b.servicesFrom('a')).toEqual(['default/old tcp']);
    await done([
      a.protocol('web', 'http'),
      a.route('service-resolver', 'web', true),
      a.route('service-router', 'web', true),
      a.route('service-resolver', 'not a service', true),
      a.route('service-splitter', 'old', false),
    ]);
    expect(b.servicesFrom('a')).toEqual(['default/web http']);
    await done([a.route('service-resolver', 'web', false), a.register({ name: 'web', id: '1' })]);
    expect(b.servicesFrom('a')).toEqual(['default/web http']);
    await done([a.remove({ name: 'web', id: '1' })]);
    expect([b.servicesFrom('a'), b.importedFrom('a')]).toEqual([['default/web http'], []]);
    await done([a.route('service-router', 'web', false)]);
    expect(b.servicesFrom('a')).toEqual([]);
    expect(stream.faults).toEqual([]);
  });

  test('is not told of names from former versions that peers refuse', async () => {
    await done([a.export([rule('no service!', 'b'), rule('web', 'b', '../x'), rule('web', 'b')])]);
    const stream = new TestStream(world, [a, b]);
    await world.advance(0);
    expect([b.servicesFrom('a'), stream.faults]).toEqual([['default/web tcp'], []]);
  });

  test('gets `tcp` for a protocol whose name is too long', async () => {
    await done([a.export([rule('web', 'b')]), a.protocol('web', 'x'.repeat(257))]);
    const stream = new TestStream(world, [a, b]);
    await world.advance(0);
    expect([b.servicesFrom('a'), stream.faults]).toEqual([['default/web tcp'], []]);
  });

  test('is told of no further instances when a service is withdrawn in between', async () => {
    await open({ window: 1, instancesPerChangeMax: 4 });
    await done([
      a.export([rule('web', 'b')]),
      ...['1', '2', '3', '4', '5'].map((id) => a.register({ name: 'web', id })),
    ]);
    const stream = new TestStream(world, [a, b], () => 5);
    await world.advance(4);
    await done([a.export(undefined)]);
    await world.advance(1000);
    expect([b.servicesFrom('a'), b.importedFrom('a'), stream.faults]).toEqual([[], [], []]);
    const told = stream.frames.flatMap((frame) => (frame.type === 'change' ? [frame] : []));
    expect(told.map(({ instances }) => instances.length)).toEqual([3, 0]);
  });

  test('is not told of an instance that fits no frame, and loses an instance that grew too large', async () => {
    await open({ instanceBytesMax: 500 });
    const large = { Tags: ['x'.repeat(500)] };
    await done([
      a.export([rule('*', 'b')]),
      a.register({ name: 'web', id: '1' }),
      a.register({ name: 'web', id: '2', changes: large }),
    ]);
    const stream = new TestStream(world, [a, b]);
    await world.advance(0);
    expect(b.importedFrom('a').map(({ ID }) => ID)).toEqual(['1']);
    await done([a.register({ name: 'web', id: '1', changes: large })]);
    expect(b.importedFrom('a')).toEqual([]);
    expect(stream.faults).toEqual([]);
  });
});

describe('the window', () => {
  test('holds up the sender, which then tells the newest of each change once', async () => {
    await done([a.export([rule('*', 'a')]), a.peer('a'), a.register({ name: 'web', id: '1' })]);
    const { sent, faults, say } = hostile(a);
    await world.advance(0);
    expect(sent.map(({ type }) => type)).toEqual(['begin', 'change', 'complete']);
    for (let n = 0; n < 10; n++) await done([a.register({ name: 'web', id: '1', port: n })]);
    const changes = () => sent.flatMap((frame) => (frame.type === 'change' ? [frame] : []));
    expect(changes()).toHaveLength(4);
    await say({ type: 'acknowledge', id: 1 });
    expect(changes().at(-1)?.instances).toMatchObject([{ id: '1', port: 9 }]);
    expect([changes().length, faults]).toEqual([5, []]);
  });

  test('costs a few keys while it stays full: then everything is told again', async () => {
    await open({ window: 1, changedInstancesMax: 5 });
    await done([a.export([rule('*', 'a')]), a.peer('a'), a.register({ name: 'web', id: '0' })]);
    const { sent, say } = hostile(a);
    await world.advance(0);
    for (let n = 1; n <= 7; n++) await done([a.register({ name: 'web', id: `${n}` })]);
    sent.length = 0;
    await say({ type: 'acknowledge', id: 1 });
    expect(sent.map(({ type }) => type)).toEqual(['complete', 'begin', 'change']);
    expect(sent[2]).toMatchObject({ instances: Array.from({ length: 8 }, () => ({})) });
  });
});

describe('a peer that breaks the rules is refused, and nothing is written', () => {
  const text = (length: number) => 'x'.repeat(length);
  test.each<[string, unknown[], string]>([
    ['no object', ['hello'], 'a frame is not an object'],
    ['null', [null], 'a frame is not an object'],
    ['a list', [[]], 'a frame is not an object'],
    ['no type', [{}], 'none of begin, change, complete, acknowledge'],
    ['an unknown type', [{ type: 'drop' }], 'none of begin'],
    ['a change before begin', [change(1)], 'has sent change before begin'],
    ['complete before begin', [complete], 'has sent complete before begin'],
    ['complete twice', [begin, complete, complete], 'has sent complete twice'],
    ['a change out of order', [begin, change(2)], 'has sent the change 2 after 0'],
    ['a change twice', [begin, change(1), change(1)], 'has sent the change 1 after 1'],
    ['an invalid id', [begin, change(-1)], 'not a whole number from 1'],
    ['an id that is a text', [begin, { ...change(1), id: '1' }], 'not a whole number from 1'],
    ['no list', [begin, change(1, { services: {} })], 'services is not a list'],
    ['a list left out', [begin, { type: 'change', id: 1 }], 'services is not a list'],
    ['a service that is no object', [begin, change(1, { services: [1] })], 'services[0] is not an'],
    [
      'an invalid namespace',
      [begin, change(1, { services: [service({ namespace: '../x' })] })],
      'services[0].namespace is not the name of a namespace: "../x"',
    ],
    [
      'a namespace with a NUL',
      [begin, change(1, { services: [service({ namespace: 'a\0b' })] })],
      'services[0].namespace',
    ],
    [
      'an invalid name',
      [begin, change(1, { services: [service({ name: 'a b' })] })],
      'services[0].name is not the name of a service: "a b"',
    ],
    ['a long name', [begin, change(1, { services: [service({ name: text(64) })] })], 'name'],
    [
      'a long protocol',
      [begin, change(1, { services: [service({ protocol: text(257) })] })],
      'services[0].protocol is longer than 256 characters',
    ],
    [
      'an instance of a service that it does not export',
      [begin, change(1, { instances: [instance()] })],
      'told of an instance of "web", a service that it does not export',
    ],
    [
      'an instance of a service that it exports no more',
      [
        begin,
        change(1, { services: [service()] }),
        change(2, { removedServices: [service()] }),
        change(3, { instances: [instance()] }),
      ],
      'a service that it does not export',
    ],
    ...(
      [
        ['an id with a NUL', { id: 'a\0b' }, 'instances[0].id is not the id of an instance'],
        ['no id', { id: '' }, 'instances[0].id is not the id'],
        ['a long id', { id: text(4097) }, 'instances[0].id is longer than 4096'],
        ['an invalid port', { port: 65_536 }, 'instances[0].port is not a whole number from 0'],
        ['a port that is a text', { port: '80' }, 'instances[0].port'],
        ['a long address', { address: text(4097) }, 'instances[0].address is longer'],
        ['no tags', { tags: null }, 'instances[0].tags is not a list'],
        ['too many tags', { tags: Array(2001).fill('') }, 'instances[0].tags are more than 2000'],
        ['a tag that is no text', { tags: [1] }, 'instances[0].tags is not a text'],
        ['meta that is a list', { meta: [] }, 'instances[0].meta is not an object'],
        ['meta that is no text', { meta: { a: {} } }, 'instances[0].meta is not a text'],
        ['invalid weights', { weights: { passing: 1 } }, 'instances[0].weights.warning'],
        ['weights below 0', { weights: { passing: -1, warning: 1 } }, 'weights.passing'],
        ['an invalid status', { status: 'fine' }, 'instances[0].status is none of unchecked'],
      ] as const
    ).map(([what, changes, reason]): [string, unknown[], string] => [
      what,
      [begin, change(1, { services: [service()], instances: [instance(changes)] })],
      reason,
    ]),
    [
      'more than fits',
      [begin, change(1, { removedInstances: Array(257).fill(instance()) })],
      'a change has 257 items; at most 256 fit',
    ],
    [
      'more than fits, in several lists',
      [begin, change(1, { services: Array(200).fill({}), removedServices: Array(57).fill({}) })],
      'a change has 257 items; at most 256 fit',
    ],
    [
      'a change that was not sent',
      [{ type: 'acknowledge', id: 7 }],
      'the change 7 was acknowledged',
    ],
    ['a flood', Array(20).fill(begin), 'has sent more than 16 frames'],
  ])('%s', async (_what, frames, reason) => {
    const { faults, sent, say } = hostile();
    await say(...frames);
    expect(faults).toEqual([expect.stringContaining(reason)]);
    expect(b.importedFrom('a')).toEqual([]);
    // Later frames are ignored.
    const { index } = b.state.read();
    sent.length = 0;
    await say(begin, change(1, { services: [service({ name: 'late' })] }));
    expect([b.state.read().index, sent, faults.length]).toEqual([index, [], 1]);
  });

  test('more instances than may be imported', async () => {
    await open({ importedServicesMax: 1, importedInstancesMax: 2, importedBytesMax: 5000 });
    const told = { services: [service()], instances: [instance(), instance({ id: '2' })] };
    for (const [more, reason] of [
      [{ services: [service({ name: 'api' })] }, 'exports more than 1 services'],
      [{ instances: [instance({ id: '3' })] }, 'exports more than 2 instances'],
      [
        { instances: [instance({ meta: { k: 'x'.repeat(4000) } })] },
        'exports more than 5000 bytes',
      ],
    ] as const) {
      const { faults, say } = hostile();
      await say(begin, change(1, told), complete, change(2, more));
      expect(faults).toEqual([reason]);
      expect(b.importedFrom('a').map(({ ID }) => ID)).toEqual(['1', '2']);
    }
    // Removed rows make room.
    const { faults, say } = hostile();
    const removedInstances = [{ namespace: 'default', name: 'web', id: '1' }];
    await say(begin, change(1, told), complete, change(2, { removedInstances }));
    await say(change(3, { instances: [instance({ id: '3' })] }));
    expect([faults, b.importedFrom('a').map(({ ID }) => ID)]).toEqual([[], ['2', '3']]);
  });

  test('names of object members are ordinary names', async () => {
    const { faults, say } = hostile();
    const meta = JSON.parse('{"__proto__":"x","constructor":"y"}');
    const named = { name: 'constructor' };
    const told = { services: [service(named)], instances: [instance({ ...named, meta })] };
    await say(begin, change(1, told), complete);
    expect(faults).toEqual([]);
    expect(Object.entries(b.importedFrom('a')[0]!.Meta!)).toEqual(Object.entries(meta));
  });
});

describe('a peering that is deleted', () => {
  const told = () => [begin, change(1, { services: [service()], instances: [instance()] })];

  test.each([
    [
      'is not there any more',
      async () => b.state.write((t) => t.table(peerings).delete('default', 'a')),
    ],
    ['is another one by now', async () => b.peer('a', { ID: 'other' })],
    ['is terminated', async () => b.peer('a', { State: 'TERMINATED' })],
  ])('and %s takes nothing in', async (_what, happens) => {
    const { sent, faults, say } = hostile();
    await done([happens()]);
    await say(...told());
    expect(b.importedFrom('a')).toEqual([]);
    expect(sent.some(({ type }) => type === 'acknowledge')).toBe(false);
    expect(faults).toEqual([]);
  });

  test('loses its rows a few at a time, and a change under way is not written', async () => {
    await open({ rowsPerTransactionMax: 3 });
    const { say, end } = hostile();
    const instances = Array.from({ length: 10 }, (_, n) => instance({ id: `${n}` }));
    await say(begin, change(1, { services: [service()], instances }), complete);
    const removed: number[] = [];
    const stop = b.state.onCommit((changes) => removed.push(changes.length));
    end.receive(change(2, { instances: [instance({ id: 'late' })] }));
    await done([b.exchange.forget({ partition: 'default', name: 'a' })]);
    stop();
    expect([b.importedFrom('a'), b.servicesFrom('a')]).toEqual([[], []]);
    expect(Math.max(...removed)).toBeLessThanOrEqual(3);
    expect(b.exchange.status({ partition: 'default', name: 'a' }).imported).toEqual([]);
  });

  test('leaves other peerings alone', async () => {
    const { say } = hostile();
    await say(...told(), complete);
    await done([b.exchange.forget({ partition: 'default', name: 'aa' })]);
    await done([b.exchange.forget({ partition: 'other', name: 'a' })]);
    expect(b.importedFrom('a')).toHaveLength(1);
  });
});
