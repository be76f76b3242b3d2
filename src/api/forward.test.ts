import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { refusal } from '../model/errors.ts';
import {
  type Answered,
  type Asked,
  type Patience,
  ServerGone,
  type Servers,
} from '../server/servers.ts';
import { registryDialect } from './dialect/registry.ts';
import { Forwarding } from './forward.ts';
import type { Request } from './http.ts';
import type { Route } from './route.ts';

/** A follower whose leader answers unless the asker is gone, and the number of questions to the leader. */
function follower(leads: () => boolean = () => false, exact = () => Promise.resolve()) {
  const world = new SimulatedWorld(1);
  const { timers, clock } = world;
  let asked = 0;
  const leader = { id: 'leader', address: 'leader:1' };
  const servers = {
    id: 'follower',
    leader: () => leader,
    members: () => [leader, { id: 'follower', address: 'follower:1' }],
    onLeader: () => () => {},
    ask: async (id: string, { path }: Asked, { gone }: Patience): Promise<Answered> => {
      asked++;
      if (gone?.aborted) throw new ServerGone(id, false);
      if (path === '/v1/refused') return { status: 403, headers: {}, body: 'no' };
      return { status: 200, headers: { 'x-registry-index': '7' }, body: 'done' };
    },
  } as unknown as Servers;
  const forwarding = new Forwarding({
    servers,
    timers,
    clock,
    takesWrites: leads,
    beginWrite: () => () => {},
    exact,
    contactMs: () => 31_000,
    staleMaxMs: 300_000,
  });
  return { world, forwarding, asked: () => asked };
}

const goneCaller = (method: string): Request => ({
  method,
  path: '/v1/x',
  query: '',
  headers: {},
  body: undefined,
  onGone: (run) => {
    run();
    return () => {};
  },
});

test.each([
  ['write', 'PUT', 200],
  ['read', 'GET', 499],
])(
  'a %s whose caller is gone (%s) is answered with %i, and asked for once',
  async (kind, method, status) => {
    const { forwarding, asked } = follower();
    const route = { endpoint: {}, run: { kind } } as unknown as Route;
    const asking = { route, request: goneCaller(method), trail: {}, isAsked: false };
    const needsLeader = async () => {
      throw refusal('not-leader');
    };
    expect((await forwarding.run(asking, needsLeader)).status).toBe(status);
    expect(asked()).toBe(1);
  },
);

const write = {
  endpoint: {},
  run: { kind: 'write' },
  dialect: registryDialect,
} as unknown as Route;
const unknownNode = () => Promise.reject(refusal('node-not-found', { id: 'n1' }));

/** A server that has not heard of another leader until it reads the end of the log. */
function deposed() {
  let leads = true;
  return follower(
    () => leads,
    async () => {
      leads = false;
    },
  );
}

test('a server that another one has deposed refuses no write for what its old state shows', async () => {
  const { forwarding, asked } = deposed();
  const request = { ...goneCaller('PUT'), onGone: () => () => {} };
  const asking = { route: write, request, trail: {}, isAsked: false };
  expect((await forwarding.run(asking, unknownNode)).status).toBe(200);
  expect(asked()).toBe(1);
});

test('a write that another server has handed on to a deposed one goes back to it', async () => {
  const { forwarding, asked } = deposed();
  const asking = { route: write, request: goneCaller('PUT'), trail: {}, isAsked: true };
  await expect(forwarding.run(asking, unknownNode)).rejects.toMatchObject({ code: 'not-leader' });
  expect(asked()).toBe(0);
});

test.each([
  ['for what its state shows', unknownNode, 'node-not-found', 1],
  [
    'for what the request is',
    () => Promise.reject(refusal('malformed-request', { reason: 'no' })),
    'malformed-request',
    0,
  ],
])('a leader refuses a write %s', async (_, refuse, code, reads) => {
  let read = 0;
  const { forwarding, asked } = follower(
    () => true,
    async () => {
      read++;
    },
  );
  const asking = { route: write, request: goneCaller('PUT'), trail: {}, isAsked: false };
  await expect(forwarding.run(asking, refuse)).rejects.toMatchObject({ code });
  expect([read, asked()]).toEqual([reads, 0]);
});

/** A follower that cannot read the end of the log until that time. */
function cutOff(untilMs: number) {
  const found = follower(
    () => false,
    async () => {
      if (found.world.clock.monotonicMs() < untilMs) throw refusal('no-leader');
    },
  );
  return found;
}

const untold = { 'x-registry-index': '7' };
const told = { ...untold, 'x-registry-lastcontact': '31000' };

test.each<[string, number, string, boolean, number, object]>([
  ['once it shows it', 0, '/v1/x', false, 0, untold],
  ['once it shows it, however late its reads of the log succeed', 20, '/v1/x', false, 20, untold],
  ['with the age of its state if it cannot show it', 3600, '/v1/x', false, 30, told],
  ['so in time for a heartbeat', 3600, '/v1/x', true, 5, told],
  ['at once if the leader has refused it', 3600, '/v1/refused', false, 0, {}],
])(
  'a follower answers a write that the leader has done %s',
  async (_, untilSeconds, path, isHeartbeat, seconds, headers) => {
    const { world, forwarding, asked } = cutOff(untilSeconds * 1000);
    const request = { ...goneCaller('PUT'), path, onGone: () => () => {} };
    const withoutLeader = isHeartbeat ? () => Promise.reject(new Error('unused')) : undefined;
    const asking = { route: write, request, trail: {}, isAsked: false, withoutLeader };
    let answeredMs: number | undefined;
    const answer = Promise.resolve(forwarding.run(asking, unknownNode)).finally(() => {
      answeredMs = world.clock.monotonicMs();
    });
    await world.advance(60_000);
    expect(await answer).toMatchObject({ status: path === '/v1/x' ? 200 : 403 });
    expect((await answer).headers).toEqual(headers);
    expect(answeredMs).toBeGreaterThanOrEqual(seconds * 1000);
    expect(answeredMs).toBeLessThan(seconds * 1000 + 500);
    expect(asked()).toBe(1);
  },
);
