import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { refusal } from '../model/errors.ts';
import { type Answered, type Patience, ServerGone, type Servers } from '../server/servers.ts';
import { Forwarding } from './forward.ts';
import type { Request } from './http.ts';
import type { Route } from './route.ts';

/** A follower whose leader answers unless the asker is gone, and the number of questions to the leader. */
function follower() {
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
    takesWrites: () => false,
    beginWrite: () => () => {},
    exact: () => Promise.resolve(),
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
