import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { StreamConnection } from '../model/node-stream/stream-connection.ts';
import { NodeStreams } from './nodes/streams.ts';
import { type Answered, type Asked, ServerGone } from './servers.ts';
import { type LocalServer, LocalServers } from './servers-local.ts';

const question: Asked = { method: 'GET', path: '/', query: '', headers: {}, body: undefined };
const answered: Answered = { status: 200, headers: {}, body: 'yes' };
const patience = { deadlineMs: 1000 };

function setUp() {
  const world = new SimulatedWorld(1);
  const servers = new LocalServers(world);
  const join = (id: string, more: Partial<LocalServer> = {}) =>
    servers.join({
      id,
      address: () => `${id}:4720`,
      state: { leading: undefined },
      streams: new NodeStreams(),
      answer: async () => answered,
      ...more,
    });
  const silent = { answer: () => new Promise<Answered>(() => {}) };
  return { world, join, silent, own: servers.of('own') };
}

test('a server that is there answers, and is known by its address', async () => {
  const { join, own } = setUp();
  join('b');
  join('a');
  expect(await own.ask('b', question, patience)).toEqual(answered);
  expect(own.members()).toEqual([
    { id: 'a', address: 'a:4720' },
    { id: 'b', address: 'b:4720' },
  ]);
});

test('a server that is not there was not asked', async () => {
  const { own } = setUp();
  const asked = own.ask('b', question, patience);
  await expect(asked).rejects.toBeInstanceOf(ServerGone);
  await expect(asked).rejects.toMatchObject({ wasSent: false });
});

test('a server that leaves before it answers, or is late, may have run the request', async () => {
  const { world, join, silent, own } = setUp();
  const leave = join('b', silent);
  join('c', silent);
  const asked = Promise.allSettled([
    own.ask('b', question, patience),
    own.ask('c', question, patience),
  ]);
  leave();
  await world.advance(patience.deadlineMs);
  for (const one of await asked) {
    expect(one).toMatchObject({ status: 'rejected', reason: { wasSent: true } });
  }
});

test('a server that is asked hears when nobody waits for the answer any more', async () => {
  const { join, own } = setUp();
  let isGone = false;
  join('b', {
    answer: (_, gone) => {
      gone.addEventListener('abort', () => {
        isGone = true;
      });
      return new Promise(() => {});
    },
  });
  const caller = new AbortController();
  const asked = own.ask('b', question, { ...patience, gone: caller.signal });
  caller.abort();
  await expect(asked).rejects.toBeInstanceOf(ServerGone);
  expect(isGone).toBe(true);
});

test('a server that joins late is as old as its state', async () => {
  const { world, join, own } = setUp();
  join('own', { ageMs: 3000 });
  await world.advance(500);
  expect(own.lastContactMs()).toBe(3500);
});

test('of two that believe to lead, the later term counts; without any, the time since is told', async () => {
  const { world, join, own } = setUp();
  expect(own.leader()).toBeUndefined();
  const leaveOld = join('old', { state: { leading: { epoch: 1 } } });
  const leaveNew = join('new', { state: { leading: { epoch: 2 } } });
  expect(own.leader()).toEqual({ id: 'new', address: 'new:4720' });
  expect(own.lastContactMs()).toBe(0);
  leaveNew();
  leaveOld();
  await world.advance(700);
  expect(own.leader()).toBeUndefined();
  expect(own.lastContactMs()).toBe(700);
});

test('the connection of a node is found at the server that holds it, as long as it is open', async () => {
  const { join, own } = setUp();
  const streams = new NodeStreams();
  join('b', { streams });
  const socket = {
    sendText() {},
    sendBinary() {},
    onMessage() {},
    onClose() {},
    close() {},
    terminate() {},
    ping() {},
    onPong() {},
  };
  const connection = new StreamConnection({ socket, side: 'server' });
  streams.add('node', connection);
  expect(await own.streamTo('node', patience)).toBe(connection);
  expect(await own.streamTo('other', patience)).toBeUndefined();
  streams.closeAll();
  expect(await own.streamTo('node', patience)).toBeUndefined();
});

test('the state of a leader whose log is silent is as old as the silence, for itself, for others, and after its term', async () => {
  const { world, join, own } = setUp();
  const state: { leading: { readonly epoch: number } | undefined } = { leading: { epoch: 1 } };
  join('own', { state: state as LocalServer['state'], silentMs: () => 60_000 });
  await world.advance(100_000);
  expect(own.lastContactMs()).toBe(60_000);
  state.leading = undefined;
  await world.advance(1000);
  expect(own.lastContactMs()).toBe(61_000);
});

test('a server that hears of a leader whose log is silent is as old as the silence', async () => {
  const { world, join, own } = setUp();
  await world.advance(100_000);
  const state = { leading: { epoch: 1 } } as LocalServer['state'];
  let silentMs = 0;
  join('leader', { state, silentMs: () => silentMs });
  expect(own.lastContactMs()).toBe(0);
  await world.advance(60_000);
  silentMs = 50_000;
  expect(own.lastContactMs()).toBe(50_000);
});

test('the commit that a leader learns of after a silence of its log is no contact since', async () => {
  const { world, join, own } = setUp();
  const leading: { leading: { readonly epoch: number } | undefined } = { leading: { epoch: 1 } };
  let commit = (_index: number): void => {};
  const leader = {
    read: () => ({ index: 6 }),
    onCommit: (listen: (changes: readonly [], index: number) => void) => {
      commit = (index) => listen([], index);
      return () => {};
    },
  };
  join('leader', {
    state: Object.assign(leading, leader) as unknown as LocalServer['state'],
    silentMs: () => 60_000,
  });
  join('own', {
    state: { leading: undefined, read: () => ({ index: 5 }) } as LocalServer['state'],
  });
  await world.advance(100_000);
  commit(6);
  leading.leading = undefined;
  expect(own.lastContactMs()).toBe(60_000);
});
