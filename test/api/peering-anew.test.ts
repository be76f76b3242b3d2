/** Peerings that start over: with another cluster, or after a lost goodbye. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { peeringFarewells } from '../../src/state/tables.ts';
import { type Cluster, startClusters, storedPeerings } from '../support/clusters.ts';
import { recording } from '../support/recording-exchange.ts';

const second = 1000;

async function three() {
  const exchanges = { a: recording(), b: recording(), c: recording() };
  const world = await startClusters(['a', 'b', 'c'], {
    exchange: (name) => exchanges[name as 'a' | 'b' | 'c'].exchange,
  });
  return { ...world, exchanges };
}

describe('data from one cluster is deleted before another one is connected under its name', () => {
  test('at the dialling side', async () => {
    const { clusters, during, exchanges, world } = await three();
    const { a, b, c } = clusters;
    const { noted, block } = exchanges.b;
    await during(b.establish('east', await a.token('b')), second);
    const old = (await b.peering('east')).PeerID;
    const unblock = block();
    noted.length = 0;
    await during(b.establish('east', await c.token('b')), second);
    const now = await b.peering('east');
    expect([now.State, now.PeerID === old, now.Remote.Datacenter]).toEqual([
      'ESTABLISHING',
      false,
      'dc-c',
    ]);
    expect(noted).toEqual(['close east', 'forget east']);
    // This is durable: data not yet deleted is deleted after a crash.
    await b.crash();
    unblock();
    await world.advance(1);
    noted.length = 0;
    await b.restart();
    await world.advance(second);
    expect(noted).toEqual(['forget east', 'forgot east', 'open east']);
    expect([await b.state('east'), await c.state('b')]).toEqual(['ACTIVE', 'ACTIVE']);
    expect(await a.state('b')).toBe('FAILING');
    expect(storedPeerings(b)[0]!.MustForget).toBe(false);
  });

  test('at the accepting side', async () => {
    const { clusters, during, exchanges, world } = await three();
    const { a, b, c } = clusters;
    const { noted, block } = exchanges.a;
    await during(b.establish('a', await a.token('west')), second);
    expect(await a.state('west')).toBe('ACTIVE');
    noted.length = 0;
    const token = await a.token('west');
    expect([noted, await a.state('west')]).toEqual([[], 'ACTIVE']);
    const unblock = block();
    await during(c.establish('a', token), second);
    expect(noted).toEqual(['close west', 'forget west']);
    expect(await a.state('west')).toBe('FAILING');
    unblock();
    await world.advance(5 * second);
    expect(noted.slice(0, 3)).toEqual(['close west', 'forget west', 'forgot west']);
    expect(noted.slice(3)).toContain('open west');
    expect(noted.slice(3)).not.toContain('forget west');
    expect([await a.state('west'), await c.state('a')]).toEqual(['ACTIVE', 'ACTIVE']);
    expect((await a.peering('west')).Remote.Datacenter).toBe('dc-c');
    expect(storedPeerings(a)[0]!.MustForget).toBe(false);
  });

  test('data of the same cluster is kept after a new token', async () => {
    const { clusters, during, exchanges } = await three();
    const { a, b } = clusters;
    await during(b.establish('a', await a.token('b')), second);
    await during(b.establish('a', await a.token('b')), second);
    const words = ({ noted }: (typeof exchanges)['a']) => noted.map((one) => one.split(' ')[0]);
    const streams = ['open', 'close', 'open'];
    // A peering that awaits its first peer has no data, so deletion is quick.
    expect(words(exchanges.a)).toEqual(['forget', 'forgot', ...streams]);
    expect(words(exchanges.b)).toEqual(streams);
    expect(await b.state('a')).toBe('ACTIVE');
  });

  test('also if the first cluster has just ended the peering', async () => {
    const { clusters, during, exchanges } = await three();
    const { a, b, c } = clusters;
    await during(b.establish('east', await a.token('b')), 20 * second);
    const token = await c.token('b');
    exchanges.b.noted.length = 0;
    await during(a.api.call('DELETE', '/v1/peering/b'), 10);
    expect(await b.state('east')).toBe('TERMINATED');
    await during(b.establish('east', token), second);
    const isForgotten = exchanges.b.noted.indexOf('forgot east');
    expect(exchanges.b.noted.slice(0, 2)).toEqual(['close east', 'forget east']);
    expect(exchanges.b.noted.indexOf('open east')).toBeGreaterThan(isForgotten);
    expect(storedPeerings(b)[0]!.MustForget).toBe(false);
    expect([await b.state('east'), await c.state('b')]).toEqual(['ACTIVE', 'ACTIVE']);
  });

  test('also if the peering is deleted meanwhile', async () => {
    const { clusters, during, exchanges, world } = await three();
    const { a, b, c } = clusters;
    await during(b.establish('east', await a.token('b')), second);
    const unblock = exchanges.b.block();
    await during(b.establish('east', await c.token('b')), second);
    await during(b.api.call('DELETE', '/v1/peering/east'), second);
    unblock();
    await world.advance(limits.peering.farewellMs + 5 * second);
    expect(await b.peering('east')).toBeUndefined();
    expect(await c.state('b')).toBe('TERMINATED');
  });
});

test('a new token for a peering ended by its peer shows nothing of the old stream', async () => {
  const { clusters, during, peer, world } = await startClusters(['a', 'b']);
  const { a, b } = clusters;
  await peer(b, a);
  await world.advance(20 * second);
  await during(b.api.call('DELETE', '/v1/peering/a'), second);
  const ended = await a.peering('b');
  expect([ended.State, typeof ended.StreamStatus.LastReceive]).toEqual(['TERMINATED', 'string']);
  await a.token('b');
  await a.token('fresh');
  const [anew, fresh] = [await a.peering('b'), await a.peering('fresh')];
  expect([anew.State, anew.StreamStatus]).toEqual(['INITIAL', fresh.StreamStatus]);
  await during(b.establish('a', await a.token('b')), second);
  expect(await a.state('b')).toBe('ACTIVE');
});

describe('a peering has one name at the dialling side', () => {
  const conflict = (name: string, why: string) => [
    409,
    'peering-conflict',
    `cannot create peering with name: "${name}"; ${why}.`,
  ];
  const known = (as: string) =>
    `that cluster is peered with already, as ${as}: establish it again under that name, or delete it first`;
  const detailOf = ({ status, json }: Awaited<ReturnType<Cluster['establish']>>) => [
    status,
    json.code,
    json.detail,
  ];

  test.each<[string, string, object, string]>([
    ['a second name', 'west', {}, '"east"'],
    ['a name that is with another cluster', 'south', {}, '"east"'],
    ['the same name elsewhere', 'east', { Partition: 'p2' }, '"east" of the partition "default"'],
  ])('%s is refused, and the token stays valid', async (_, name, place, as) => {
    const { clusters, during, exchanges } = await three();
    const { a, b, c } = clusters;
    await during(b.api.call('PUT', '/v1/partition/p2', { body: {} }), 10);
    await during(b.establish('east', await a.token('b')), second);
    await during(b.establish('south', await c.token('b')), second);
    const before = storedPeerings(b);
    for (const { noted } of Object.values(exchanges)) noted.length = 0;
    const token = await a.token('b');
    const refused = await during(b.establish(name, token, place), second);
    expect(detailOf(refused)).toEqual(conflict(name, known(as)));
    expect(storedPeerings(b)).toEqual(before);
    expect([exchanges.a.noted, exchanges.b.noted]).toEqual([[], []]);
    expect((await during(b.establish('east', token), second)).status).toBe(200);
    expect([await b.state('east'), await b.state('south')]).toEqual(['ACTIVE', 'ACTIVE']);
    expect([await a.state('b'), await c.state('b')]).toEqual(['ACTIVE', 'ACTIVE']);
  });

  test('it can have another name after it is deleted completely', async () => {
    const { clusters, during, exchanges, world } = await three();
    const { a, b } = clusters;
    await during(b.establish('east', await a.token('b')), second);
    const unblock = exchanges.b.block();
    await during(b.api.call('DELETE', '/v1/peering/east'), second);
    const token = await a.token('b');
    const why =
      'that cluster is peered with as "east", which is being deleted: try again when it is gone';
    expect(detailOf(await during(b.establish('west', token), 10))).toEqual(conflict('west', why));
    unblock();
    await world.advance(limits.peering.farewellMs + 5 * second);
    expect((await during(b.establish('west', token), second)).status).toBe(200);
    expect([await b.state('east'), await b.state('west')]).toEqual(['none', 'ACTIVE']);
    expect(await a.state('b')).toBe('ACTIVE');
  });

  test('another peering with the same cluster is independent', async () => {
    const { clusters, during } = await three();
    const { a, b } = clusters;
    await during(b.establish('east', await a.token('b')), second);
    expect((await during(b.establish('west', await a.token('b2')), second)).status).toBe(200);
    const states = [await b.state('east'), await b.state('west'), await a.state('b')];
    expect([...states, await a.state('b2')]).toEqual(Array(4).fill('ACTIVE'));
  });
});

describe('a lost goodbye', () => {
  const farewellsAt = ({ api }: Cluster) => [...api.state.read().table(peeringFarewells).scan()];

  /** `b` has deleted its peering with `a`, which was unreachable. */
  async function unheard() {
    const given = await startClusters(['a', 'b']);
    const { clusters, peer, during, network } = given;
    const { a, b } = clusters;
    await peer(b, a);
    network.partition(a.address);
    await during(b.api.call('DELETE', '/v1/peering/a'), 15 * second);
    expect(farewellsAt(b)).toHaveLength(1);
    return { ...given, a, b };
  }

  const forged = (token: string) => {
    const fields = JSON.parse(Buffer.from(token, 'base64').toString());
    const EstablishmentSecret = '11111111-1111-4111-8111-111111111111';
    return Buffer.from(JSON.stringify({ ...fields, EstablishmentSecret })).toString('base64');
  };

  test('is repeated after a token for the same peering was refused', async () => {
    const { a, b, during, network, world } = await unheard();
    const token = await a.token('b');
    // No one accepts it.
    expect((await during(b.establish('a', token), 5 * second)).status).toBe(503);
    expect(farewellsAt(b)).toHaveLength(1);
    network.heal();
    // The result is another than before.
    expect((await during(b.establish('a', forged(token)), 10)).status).toBe(403);
    await world.advance(60 * second);
    expect([await a.state('b'), farewellsAt(b)]).toEqual(['TERMINATED', []]);
  });

  test.each([0, 50, 100, 200, 300, 400, 600, 800])(
    'is not said once a token was taken, nor while one is tried: the peer is back after %i ms',
    async (afterMs) => {
      const { a, b, during, network, world } = await unheard();
      const token = await a.token('b');
      // The goodbye is tried as often as the token is, and would be heard first now and then.
      await b.crash();
      await b.restart();
      const asked = b.establish('a', token);
      await world.advance(afterMs);
      network.heal();
      expect((await during(asked, 4 * second)).status).toBe(200);
      expect(farewellsAt(b)).toEqual([]);
      await world.advance(60 * second);
      expect([await a.state('b'), await b.state('a')]).toEqual(['ACTIVE', 'ACTIVE']);
    },
  );

  test('is repeated after two concurrent attempts have failed', async () => {
    const { a, b, during, network, world } = await unheard();
    const token = await a.token('b');
    const both = Promise.all([b.establish('a', token), b.establish('x', forged(token))]);
    const answers = await during(both, 5 * second);
    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
    network.heal();
    await world.advance(60 * second);
    expect([await a.state('b'), farewellsAt(b)]).toEqual(['TERMINATED', []]);
  });
});
