import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { limits } from '../model/limits.ts';
import { HandOver } from './hand-over.ts';
import type { ServerReport, Servers } from './servers.ts';

type Reports = Readonly<Record<string, Partial<ServerReport> | undefined>>;

/** A server that leads, and others with these reports. */
function leading(reports: Reports) {
  const world = new SimulatedWorld(1);
  const named: (string | undefined)[] = [];
  const idle = { version: '', index: 0, heardMs: 0, skewMs: 0 };
  const servers: Pick<Servers, 'id' | 'members' | 'reportOf' | 'leader' | 'onLeader'> = {
    id: 'own',
    members: () => ['own', ...Object.keys(reports)].map((id) => ({ id, address: id })),
    reportOf: (id) => reports[id] && { ...idle, ...reports[id] },
    leader: () => (named.length > 0 ? { id: 'other', address: 'other' } : undefined),
    onLeader: () => () => {},
  };
  const handOver = new HandOver({
    world,
    servers: servers as Servers,
    state: { stepDown: async (_, successor) => void named.push(successor) },
    leads: () => named.length === 0,
  });
  return { handOver, named, world };
}

test.each<[string, Reports, string | undefined]>([
  [
    'the candidate that is furthest in the log',
    { a: { index: 3, candidate: 'A' }, b: { index: 5, candidate: 'B' } },
    'B',
  ],
  [
    'a candidate, even if another server is further',
    { a: { index: 3, candidate: 'A' }, b: { index: 5 } },
    'A',
  ],
  ['a candidate that is connected', { a: undefined, b: { index: 5, candidate: 'B' } }, 'B'],
  ['nobody, where there is no candidate', { a: { index: 3 } }, undefined],
])('the successor is %s', async (_title, reports, expected) => {
  const { handOver, named } = leading(reports);
  expect(await handOver.run(0)).toMatchObject({ id: 'other' });
  expect(named).toEqual([expected]);
});

test.each<[string, boolean, number]>([
  ['when the last write that runs has ended', true, limits.servers.drainMs / 2],
  ['after too long, if a write does not end', false, limits.servers.drainMs],
])('the term ends %s', async (_title, ends, expectedMs) => {
  const { handOver, named, world } = leading({ a: { candidate: 'A' } });
  const [first, second] = [handOver.beginWrite(), handOver.beginWrite()];
  void handOver.run(0);
  expect(handOver.takesWrites).toBe(false);
  first();
  await world.advance(expectedMs - 1);
  expect(named).toEqual([]);
  if (ends) second();
  await world.advance(ends ? 0 : 1);
  expect(named).toEqual(['A']);
});
