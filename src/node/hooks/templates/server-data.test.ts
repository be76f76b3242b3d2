/** Services and variables as templates see them, from servers that the test simulates. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../../base/ports-simulated.ts';
import type { Dependency } from '../../../language/template/run-context.ts';
import { limits } from '../../../model/limits.ts';
import type { Transport, TransportAnswer, TransportRequest } from '../../../sdk/transport.ts';
import { ServerData } from './server-data.ts';

interface Asked extends TransportRequest {
  answer(status: number, body: unknown, index?: number): Promise<void>;
  lose(): Promise<void>;
}

let world: SimulatedWorld;
let data: ServerData;
/** Requests without an answer. */
let asked: Asked[];
let count: number;

beforeEach(() => {
  world = new SimulatedWorld(3);
  asked = [];
  count = 0;
  const send = (request: TransportRequest) =>
    new Promise<TransportAnswer>((resolve, reject) => {
      count++;
      const done = async (finish: () => void) => {
        asked.splice(asked.indexOf(entry), 1);
        finish();
        await settle();
      };
      const entry: Asked = {
        ...request,
        answer: (status, body, index = 1) =>
          done(() =>
            resolve({
              status,
              headers: { 'x-scheduler-index': String(index) },
              body: (async function* () {
                yield Buffer.from(JSON.stringify(body));
              })(),
            }),
          ),
        lose: () => done(() => reject(new Error('connection refused'))),
      };
      request.signal?.addEventListener('abort', () => void done(() => reject(new Error('ended'))));
      asked.push(entry);
    });
  const transport: Transport = { send, close: async () => {} };
  data = new ServerData({ world, address: 'http://servers:1', transport });
});

afterEach(() => data.close());

const settle = async () => {
  for (let round = 0; round < 10; round++) {
    await world.advance(0);
    await new Promise((resolve) => setImmediate(resolve));
  }
};

const reader = {
  namespace: 'shop',
  identity: '',
  token: async () => undefined as string | undefined,
  refused: () => {},
};
const variable = { kind: 'variable', name: 'jobs/web' } as const;

async function watched(dependency: Dependency, as = reader) {
  let changes = 0;
  const watch = data.watch(dependency, as, () => changes++);
  await settle();
  return { watch, changes: () => changes };
}

describe('requests and their values', () => {
  test.each<[Dependency, string, unknown, unknown]>([
    [
      { kind: 'service', name: 'web' },
      '/v1/service/web?namespace=shop',
      [
        { ID: 'b', ServiceName: 'web', Address: '10.0.0.2', Port: 81, Tags: null },
        { ID: 'a', ServiceName: 'web', Address: '10.0.0.1', Port: 80, Tags: ['x'] },
      ],
      [
        { ID: 'a', Address: '10.0.0.1', Port: 80n, Tags: ['x'] },
        { ID: 'b', Address: '10.0.0.2', Port: 81n, Tags: [] },
      ],
    ],
    [{ kind: 'service', name: 'a/b@other' }, '/v1/service/a%2Fb?namespace=other', [], []],
    [
      { kind: 'service', name: 'web@other?peer=east' },
      '/v1/service/web?namespace=other&peer=east',
      [{ ID: 'a', ServiceName: 'web', Address: '10.1.0.1', Port: 80, Peer: 'east' }],
      [{ ID: 'a', Address: '10.1.0.1', Node: '', Port: 80n }],
    ],
    [
      { kind: 'services', name: '' },
      '/v1/services?namespace=shop',
      [{ Namespace: 'shop', Services: [{ ServiceName: 'web', Tags: ['x'] }] }],
      [{ Name: 'web', Tags: ['x'] }],
    ],
    [variable, '/v1/var/jobs%2Fweb?namespace=shop', { Items: { a: 'b' } }, { a: 'b' }],
    [
      { kind: 'variables', name: 'jobs/' },
      '/v1/vars?namespace=shop&prefix=jobs%2F',
      [{ Path: 'jobs/web', Namespace: 'shop' }],
      [{ Path: 'jobs/web', Namespace: 'shop' }],
    ],
  ])('%o', async (dependency, path, answer, value) => {
    const { watch } = await watched(dependency);
    expect(asked[0]!.path).toBe(path);
    expect(watch.state).toEqual({ kind: 'pending' });
    await asked[0]!.answer(200, answer);
    const plain = (one: unknown): unknown => {
      if (Array.isArray(one)) return one.map(plain);
      return one instanceof Map ? Object.fromEntries([...one]) : one;
    };
    expect(watch.state.kind === 'known' && plain(watch.state.value)).toMatchObject(value as object);
    watch.close();
  });
});

test('a change is reported once; an unchanged value is none', async () => {
  const { watch, changes } = await watched(variable);
  await asked[0]!.answer(200, { Items: { a: '1' } }, 7);
  expect(asked[0]!.path).toContain('index=7');
  await asked[0]!.answer(200, { Items: { a: '1' } }, 8);
  await asked[0]!.answer(200, { Items: { a: '2' } }, 9);
  expect(changes()).toBe(2);
  watch.close();
  await settle();
  expect(asked).toEqual([]);
  expect(data.size).toBe(0);
});

test('one request serves all readers of a value, but never those of another identity', async () => {
  const first = await watched(variable);
  const second = await watched(variable);
  const third = await watched(variable, { ...reader, identity: 'a', token: async () => 'secret' });
  expect(asked.map(({ headers }) => headers['x-registry-token'])).toEqual([undefined, 'secret']);
  first.watch.close();
  await settle();
  expect(asked).toHaveLength(2);
  await asked[0]!.answer(200, { Items: {} });
  expect(second.watch.state.kind).toBe('known');
  expect(first.changes()).toBe(0);
  expect(third.watch.state.kind).toBe('pending');
  second.watch.close();
  third.watch.close();
});

test('a missing value is known, and waited for', async () => {
  const { watch } = await watched(variable);
  const missing = { type: 'about:blank', code: 'not-found', detail: 'no', status: 404 };
  await asked[0]!.answer(404, missing, 5);
  expect(watch.state).toEqual({ kind: 'known', value: null });
  expect(asked[0]!.path).toContain('index=5');
  await asked[0]!.answer(200, { Items: {} }, 6);
  expect(watch.state).toMatchObject({ kind: 'known', value: new Map() });
  watch.close();
});

test.each([
  { kind: 'service', name: 'a' },
  { kind: 'services', name: '' },
  { kind: 'variables', name: '' },
] as const)('a list that is not there is empty: %o', async (dependency) => {
  const { watch } = await watched(dependency);
  await asked[0]!.answer(404, { code: 'not-found', detail: 'no' }, 5);
  expect(watch.state).toEqual({ kind: 'known', value: [] });
  watch.close();
});

test('a request is repeated with growing pauses, and fails after a number of attempts', async () => {
  const { watch } = await watched(variable);
  const begunMs = world.clock.nowMs();
  for (let tries = 1; tries < limits.template.retriesMax; tries++) {
    await asked[0]!.lose();
    expect(watch.state.kind).toBe('pending');
    for (let step = 0; asked.length === 0 && step < 100; step++) {
      await world.advance(limits.template.retryMaxMs / 20);
      await settle();
    }
  }
  await asked[0]!.lose();
  expect(watch.state.kind).toBe('failed');
  expect(world.clock.nowMs() - begunMs).toBeGreaterThan(100_000);
  await world.advance(limits.template.retryMaxMs);
  await settle();
  await asked[0]!.answer(200, { Items: {} });
  expect(watch.state.kind).toBe('known');
  watch.close();
});

test('known values stay when servers are lost', async () => {
  const { watch, changes } = await watched(variable);
  await asked[0]!.answer(200, { Items: { a: '1' } });
  for (let tries = 0; tries < 2 * limits.template.retriesMax; tries++) {
    await asked[0]!.lose();
    await world.advance(limits.template.retryMaxMs);
    await settle();
  }
  expect(watch.state.kind).toBe('known');
  expect(changes()).toBe(1);
  watch.close();
});

test('a server that never waits is asked with pauses', async () => {
  const { watch } = await watched(variable);
  for (let answers = 0; answers < 3; answers++) {
    await asked[0]?.answer(200, { Items: {} }, 4);
  }
  expect(count).toBe(2);
  expect(asked).toEqual([]);
  await world.advance(limits.template.idleMs);
  await settle();
  expect(count).toBe(3);
  watch.close();
});
