import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { refusal } from '../model/errors.ts';
import { type Answered, type Patience, ServerGone, type Servers } from '../server/servers.ts';
import { Forwarding } from './forward.ts';
import type { Request } from './http.ts';
import type { Route } from './route.ts';

/** A follower whose leader answers unless the asker is gone, and the number of questions to the leader. */
function follower(leads: () => boolean = () => false, exact = () => Promise.resolve()) {
  const { timers, clock } = new SimulatedWorld(1);
  let asked = 0;
  const leader = { id: 'leader', address: 'leader:1' };
  const servers = {
    id: 'follower',
    leader: () => leader,
    members: () => [leader, { id: 'follower', address: 'follower:1' }],
    onLeader: () => () => {},
    ask: async (id: string, _question: unknown, { gone }: Patience): Promise<Answered> => {
      asked++;
      if (gone?.aborted) throw new ServerGone(id, false);
      return { status: 200, headers: {}, body: 'done' };
    },
  } as unknown as Servers;
  const forwarding = new Forwarding({
    servers,
    timers,
    clock,
    takesWrites: leads,
    beginWrite: () => () => {},
    exact,
    contactMs: () => 0,
    staleMaxMs: 300_000,
  });
  return { forwarding, asked: () => asked };
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

const write = { endpoint: {}, run: { kind: 'write' } } as unknown as Route;
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
