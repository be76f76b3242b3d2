/**
 * Peerings with slow writes: a decision made before a write is checked against the state after it.
 */
import { describe, expect, test, vi } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { WriteQueueFull } from '../../src/state/errors.ts';
import { type Cluster, startClusters, storedPeerings } from '../support/clusters.ts';
import { testsFollower } from '../support/follower.ts';
import { recording } from '../support/recording-exchange.ts';

const second = 1000;

async function three() {
  const exchanges = { a: recording(), b: recording(), c: recording() };
  const given = await startClusters(['a', 'b', 'c'], {
    exchange: (name) => exchanges[name as 'a' | 'b' | 'c'].exchange,
  });
  const slow = (cluster: Cluster, appendDelayMs: number | undefined) => {
    cluster.api.disk.faults.appendDelayMs = appendDelayMs;
  };
  /** Later writes become durable together, after `durationMs`. */
  const holdWrites = async (cluster: Cluster, durationMs: number) => {
    // Of an append to a shared log, half of the delay is that of the way back, when the disk is fast again.
    slow(cluster, testsFollower ? 2 * durationMs : durationMs);
    const body = { Kind: 'service-defaults', Name: 'held', Protocol: 'http' };
    void cluster.api.call('PUT', '/v1/config', { body });
    await given.world.advance(0);
    slow(cluster, undefined);
  };
  return { ...given, exchanges, slow, holdWrites };
}

describe('a peering that has moved to another cluster sends nothing to the former one', () => {
  test('no goodbye from the dialling side', async () => {
    const { clusters, during, world, slow } = await three();
    const { a, b, c } = clusters;
    await during(b.establish('east', await a.token('b')), second);
    slow(b, 100);
    const asked = b.establish('east', await c.token('b'));
    await world.advance(20);
    expect(storedPeerings(b)[0]!.Remote.Datacenter).toBe('dc-a');
    void a.api.call('DELETE', '/v1/peering/b');
    expect((await during(asked, 200)).status).toBe(200);
    slow(b, undefined);
    await world.advance(20 * second);
    expect([await b.state('east'), await c.state('b')]).toEqual(['ACTIVE', 'ACTIVE']);
    expect(await a.state('b')).toBe('none');
  });

  test('no goodbye from the accepting side', async () => {
    const { clusters, during, world, slow } = await three();
    const { a, b, c } = clusters;
    await during(b.establish('a', await a.token('west')), second);
    const token = await a.token('west');
    slow(a, 100);
    const asked = c.establish('a', token);
    await world.advance(120);
    expect(storedPeerings(a)[0]!.Remote.Datacenter).toBe('dc-b');
    void b.api.call('DELETE', '/v1/peering/a');
    expect((await during(asked, 200)).status).toBe(200);
    slow(a, undefined);
    await world.advance(20 * second);
    expect([await a.state('west'), await c.state('a')]).toEqual(['ACTIVE', 'ACTIVE']);
  });

  test('no addresses', async () => {
    const { clusters, during, world, slow } = await three();
    const { a, b, c } = clusters;
    await during(b.establish('east', await a.token('b')), second);
    slow(b, 100);
    const asked = b.establish('east', await c.token('b'));
    await world.advance(20);
    a.api.server.peerings.advertise({ addresses: ['moved.example:4720'], caPems: [] });
    expect((await during(asked, 200)).status).toBe(200);
    slow(b, undefined);
    await world.advance(20 * second);
    expect((await b.peering('east')).PeerServerAddresses).toEqual([c.address]);
    expect([await b.state('east'), await c.state('b')]).toEqual(['ACTIVE', 'ACTIVE']);
  });
});

test('data of two clusters in succession is deleted when both are recorded together', async () => {
  const { clusters, during, world, exchanges, holdWrites } = await three();
  const { a, b, c } = clusters;
  await during(b.establish('east', await a.token('b')), second);
  const [again, unblock] = [await a.token('b'), exchanges.b.block()];
  await during(b.establish('east', await c.token('b')), second);
  await holdWrites(b, 100);
  unblock();
  await world.advance(10);
  expect((await during(b.establish('east', again), 200)).status).toBe(200);
  await world.advance(20 * second);
  expect([await b.state('east'), await a.state('b')]).toEqual(['ACTIVE', 'ACTIVE']);
  expect(storedPeerings(b)[0]!.MustForget).toBe(false);
});

describe('a stream is accepted while its secret is valid', () => {
  test('and refused if another cluster was recorded meanwhile', async () => {
    const { clusters, during, world, exchanges, network, slow, holdWrites } = await three();
    const { a, b, c } = clusters;
    await during(b.establish('a', await a.token('west')), second);
    const unblock = exchanges.a.block();
    slow(c, second);
    const asked = c.establish('a', await a.token('west'));
    await world.advance(20);
    await holdWrites(a, 2 * second);
    exchanges.a.noted.length = 0;
    for (const { from, cut } of network.open) if (from === b.address) cut();
    expect((await during(asked, 4 * second)).status).toBe(200);
    expect(exchanges.a.noted).toEqual(['close west', 'forget west']);
    expect(await b.state('a')).toBe('FAILING');
    slow(c, undefined);
    unblock();
    await world.advance(20 * second);
    expect([await a.state('west'), await c.state('a')]).toEqual(['ACTIVE', 'ACTIVE']);
  });

  test('and refused if the peering is deleted meanwhile', async () => {
    const { clusters, during, world, network, peer, holdWrites } = await three();
    const { a, b } = clusters;
    await peer(b, a);
    await b.crash();
    const { farewellMs, farewellKeptMs } = limits.peering;
    await during(a.api.call('DELETE', '/v1/peering/b'), farewellMs + second);
    // The goodbye is about to expire when the peer comes back.
    await world.advance(farewellKeptMs - farewellMs - 4 * second);
    await holdWrites(a, 4 * second);
    // Together with another write at that moment.
    void a.token('other');
    await b.restart();
    await world.advance(60 * second);
    expect([await b.state('a'), network.open.length]).toEqual(['FAILING', 0]);
  });
});

describe('two tokens of one peering used at the same time do not mix', () => {
  /** `b` uses both at once, and receives the answers in either order. */
  async function both(name: string, isFirstHeardLast: boolean) {
    const { clusters, during, world, network } = await three();
    const { a, b } = clusters;
    const held: (() => void)[] = [];
    network.tamper = (text, by) => {
      if (by !== 'acceptor' || !text.includes('"established"')) return text;
      const links = network.open.filter(({ frames }) => frames.some((one) => one.text === text));
      const link = links[held.length]!;
      held.push(() => link.inject('acceptor', text));
      return undefined;
    };
    const first = b.establish('a', await a.token('b'));
    await world.advance(20);
    const token = await a.token('b');
    const second = b.establish(name, token);
    await world.advance(20);
    network.tamper = (text) => text;
    for (const release of isFirstHeardLast ? held.reverse() : held) {
      release();
      await world.advance(2);
    }
    const answers = await during(Promise.all([first, second]), 5000);
    return { a, b, during, token, statuses: answers.map(({ status }) => status) };
  }

  test('under one name', async () => {
    const { a, b, statuses } = await both('a', true);
    expect(statuses).toEqual([200, 200]);
    expect([await a.state('b'), await b.state('a')]).toEqual(['ACTIVE', 'ACTIVE']);
  });

  test('under two names, of which one is refused and its token stays valid', async () => {
    const { a, b, during, token, statuses } = await both('other', false);
    expect(statuses).toEqual([200, 409]);
    expect([await a.state('b'), await b.state('a')]).toEqual(['ACTIVE', 'ACTIVE']);
    expect((await during(b.establish('a', token), second)).status).toBe(200);
    expect([await a.state('b'), await b.state('a')]).toEqual(['ACTIVE', 'ACTIVE']);
  });

  test('and neither waits longer than alone, if no one answers', async () => {
    const { clusters, during, network } = await three();
    const { a, b } = clusters;
    const token = await a.token('b');
    network.isSilent = true;
    const both = Promise.all([b.establish('a', token), b.establish('other', token)]);
    const answers = await during(both, limits.peering.establishTimeoutMs + 10);
    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
    expect(answers[0]!.json.detail).toContain('it said nothing for');
    expect(answers[1]!.json.detail).toContain('another request tried all the time');
  });
});

test('a used token is not lost when the write queue is full at that moment', async () => {
  const { clusters, during, world } = await three();
  const { a, b } = clusters;
  const token = await a.token('b');
  const asked = b.establish('a', token);
  await world.advance(1);
  vi.spyOn(b.api.state, 'write').mockRejectedValueOnce(new WriteQueueFull(1, 1));
  const { status, headers } = await during(asked, limits.state.fullRetryMs + second);
  expect([status, headers['x-registry-index']]).toEqual([
    200,
    String(storedPeerings(b)[0]!.ModifyIndex),
  ]);
  expect([await a.state('b'), await b.state('a')]).toEqual(['ACTIVE', 'ACTIVE']);
});
