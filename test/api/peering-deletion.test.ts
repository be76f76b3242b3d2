import { expect, test } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { peeringFarewells, peeringSecrets } from '../../src/state/tables.ts';
import { type Cluster, peeringStates, startClusters } from '../support/clusters.ts';
import { recording } from '../support/recording-exchange.ts';

const second = 1000;

/** Stored rows of peerings besides their records. */
const leftAt = ({ api }: Cluster) => [
  ...api.state.read().table(peeringSecrets).scan(),
  ...api.state.read().table(peeringFarewells).scan(),
];

test.each([
  ['the side that was dialled', 'a'],
  ['the side that dialled', 'b'],
] as const)('%s deletes the peering', async (_, who) => {
  const exchanges = { a: recording(), b: recording() };
  const { clusters, peer, during, world } = await startClusters(['a', 'b'], {
    exchange: (name) => exchanges[name as 'a' | 'b'].exchange,
  });
  const { a, b } = clusters;
  await peer(b, a);
  const [deleter, other] = who === 'a' ? [a, b] : [b, a];
  const heard = { deleter: exchanges[who], other: exchanges[who === 'a' ? 'b' : 'a'] };
  for (const { noted } of Object.values(heard)) noted.length = 0;
  const unblock = heard.deleter.block();
  const nowMs = world.clock.nowMs();
  const path = `/v1/peering/${other.name.toUpperCase()}`;
  const { status, text, headers } = await during(deleter.api.call('DELETE', path), 20);
  expect([status, text, headers['content-type']]).toEqual([200, '', undefined]);
  const marked = await deleter.peering(other.name);
  expect(marked.State).toBe('TERMINATED');
  expect(Date.parse(marked.DeletedAt)).toBe(nowMs);
  expect((await during(deleter.api.call('DELETE', path))).status).toBe(200);
  // Other actions on it are refused meanwhile.
  const again = await during(
    deleter.api.call('POST', '/v1/peering/token', { body: { PeerName: other.name } }),
  );
  expect(again).toMatchObject({ status: 409, json: { code: 'peering-conflict' } });
  expect(again.json.detail).toContain('marked for deletion');
  // The peer has been informed, and keeps its own record for its operator.
  expect(await other.peering(deleter.name)).toMatchObject({ State: 'TERMINATED', DeletedAt: null });
  const name = deleter.name;
  expect(heard.other.noted).toEqual([`close ${name}`, `forget ${name}`, `forgot ${name}`]);
  unblock();
  await world.advance(100);
  expect(await deleter.peering(other.name)).toBeUndefined();
  const gone = other.name;
  expect(heard.deleter.noted).toEqual([`close ${gone}`, `forget ${gone}`, `forgot ${gone}`]);
  expect(leftAt(deleter)).toEqual([]);
  const left = [...other.api.state.read().table(peeringSecrets).scan()];
  expect(left).toMatchObject([{ Active: '', Pending: '', Establishment: '', Exchanged: '' }]);
  // The other record can be deleted too, or start over.
  await world.advance(60 * second);
  expect(await other.state(deleter.name)).toBe('TERMINATED');
  await peer(b, a);
  expect(await peeringStates(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
});

test.each([
  ['the side that was dialled', 'a'],
  ['the side that dialled', 'b'],
] as const)('%s deletes the peering while the other side is unreachable', async (_, who) => {
  const { clusters, peer, during, network, world } = await startClusters(['a', 'b']);
  const { a, b } = clusters;
  await peer(b, a);
  const [deleter, other] = who === 'a' ? [a, b] : [b, a];
  network.partition(other.address);
  await during(deleter.api.call('DELETE', `/v1/peering/${other.name}`), second);
  expect(await deleter.state(other.name)).toBe('TERMINATED');
  await world.advance(limits.peering.farewellMs + 5 * second);
  // The record is deleted and its name is free; only the peer has to be informed.
  expect(await deleter.peering(other.name)).toBeUndefined();
  expect(await other.state(deleter.name)).toBe('FAILING');
  await deleter.crash();
  await deleter.restart();
  network.heal();
  await world.advance(40 * second);
  expect(await other.state(deleter.name)).toBe('TERMINATED');
  expect(leftAt(deleter)).toEqual([]);
});

test('an undelivered goodbye is dropped after a day', async () => {
  const { clusters, peer, during, network, world } = await startClusters(['a', 'b']);
  const { a, b } = clusters;
  await peer(b, a);
  network.partition(b.address);
  await during(a.api.call('DELETE', '/v1/peering/b'), limits.peering.farewellMs + second);
  const left = () => [...a.api.state.read().table(peeringFarewells).scan()].length;
  expect(left()).toBe(1);
  await world.advance(limits.peering.farewellKeptMs);
  expect(left()).toBe(0);
  network.heal();
  await world.advance(30 * second);
  expect(await b.peering('a')).toMatchObject({
    State: 'FAILING',
    StreamStatus: { LastError: expect.stringContaining('the peering is unknown there') },
  });
});

test('a goodbye is not sent to a peering that has started over', async () => {
  const { clusters, peer, during, network, world } = await startClusters(['a', 'b']);
  const { a, b } = clusters;
  await peer(b, a);
  network.partition(a.address);
  await during(b.api.call('DELETE', '/v1/peering/a'), 15 * second);
  expect(await b.peering('a')).toBeUndefined();
  const token = await a.token('b');
  network.heal();
  expect((await during(b.establish('a', token))).status).toBe(200);
  await world.advance(60 * second);
  expect(await peeringStates(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
});

test.each([0, 1, 2, 3, 5, 8, 50])(
  'the deletion of a peering goes on after a crash %i ms into it',
  async (afterMs) => {
    const { clusters, peer, world } = await startClusters(['a', 'b']);
    const { a, b } = clusters;
    await peer(b, a);
    const asked = a.api.call('DELETE', '/v1/peering/b').catch(() => undefined);
    await world.advance(afterMs);
    await a.crash();
    void asked;
    await a.restart();
    await world.advance(60 * second);
    // Either it was durable and is carried out, or it was not and nothing happened.
    const isDone = (await a.peering('b')) === undefined;
    expect(await b.state('a')).toBe(isDone ? 'TERMINATED' : 'ACTIVE');
    if (afterMs > 0) expect(isDone).toBe(true);
  },
);
