import { expect, test } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { peeringSecrets } from '../../src/state/tables.ts';
import { type Cluster, peeringStates, startClusters, storedPeerings } from '../support/clusters.ts';
import { recording } from '../support/recording-exchange.ts';

const second = 1000;

test('a peering from its token until both sides know each other', async () => {
  const { clusters, during, network, world } = await startClusters(['a', 'b']);
  const { a, b } = clusters;
  const token = await a.token('b', { Meta: { env: 'test' } });
  expect(await a.peering('b')).toMatchObject({
    Name: 'b',
    State: 'INITIAL',
    Partition: 'default',
    Meta: { env: 'test' },
    PeerServerName: '',
    PeerServerAddresses: [],
    DeletedAt: null,
    StreamStatus: { LastHeartbeat: null, LastReceive: null, LastSend: null, LastError: '' },
  });
  expect(await a.peering('b')).not.toHaveProperty('PeerID');
  const asked = b.establish('a', token);
  expect(await during(asked, 3)).toMatchObject({ status: 200, json: {} });
  expect(await b.state('a')).toBe('ESTABLISHING');
  await world.advance(20);
  expect(await peeringStates(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
  const [atA, atB] = [await a.peering('b'), await b.peering('a')];
  expect([atA.PeerID, atB.PeerID]).toEqual([atB.ID, atA.ID]);
  expect(atA.Remote).toEqual({ Partition: 'default', Datacenter: 'dc-b' });
  expect(atB.Remote).toEqual({ Partition: 'default', Datacenter: 'dc-a' });
  expect(atB.PeerServerAddresses).toEqual(['a.example:4720']);
  expect(network.open.length).toBe(1);
  // Both send a heartbeat every 15 s.
  const count = () => network.open[0]!.frames.filter(({ text }) => text.includes('heartbeat'));
  const before = count().length;
  await world.advance(60 * second);
  expect(count().length - before).toBe(8);
  const { StreamStatus } = await a.peering('b');
  expect(Date.parse(StreamStatus.LastHeartbeat)).toBeGreaterThan(world.clock.nowMs() - 16 * second);
});

test('the secret of a token works once', async () => {
  const { clusters, during } = await startClusters(['a', 'b', 'c']);
  const { a, b, c } = clusters;
  const [older, newer] = [await a.token('b'), await a.token('b')];
  const refused = { status: 403, json: { code: 'peering-token-refused' } };
  expect(await during(b.establish('a', older))).toMatchObject(refused);
  expect(storedPeerings(b)).toEqual([]);
  // Of two at the same time, one gets it.
  const both = Promise.all([b.establish('a', newer), c.establish('a', newer)]);
  const answers = await during(both);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
  expect(answers.find(({ status }) => status === 403)!.text).toContain(
    'a new peering token must be generated: invalid peering establishment secret',
  );
  for (const cluster of [b, c]) {
    expect(await during(cluster.establish('again', newer))).toMatchObject(refused);
  }
});

test('a lost answer is requested again, with the same secrets', async () => {
  const { clusters, during, network } = await startClusters(['a', 'b']);
  const { a, b } = clusters;
  const token = await a.token('b');
  let lost = 0;
  network.tamper = (text, by) => {
    if (by !== 'acceptor' || !text.includes('established') || lost === 1) return text;
    lost++;
    network.open[0]!.cut();
    return undefined;
  };
  expect((await during(b.establish('a', token), 3 * second)).status).toBe(200);
  expect([lost, ...(await peeringStates(a, b))]).toEqual([1, 'ACTIVE', 'ACTIVE']);
});

test('an unreachable cluster is reported with its addresses', async () => {
  const { clusters, during, network, world } = await startClusters(['a', 'b']);
  const { a, b } = clusters;
  const token = await a.token('b', { ServerExternalAddresses: ['balancer.example:443'] });
  network.partition(a.address);
  const startMs = world.clock.monotonicMs();
  const answer = await during(b.establish('a', token), 4 * second);
  expect(answer).toMatchObject({ status: 503, json: { code: 'peer-unreachable' } });
  expect(answer.json.detail).toContain('balancer.example:443: nothing listens there; a.example');
  expect(world.clock.monotonicMs() - startMs).toBeLessThanOrEqual(4 * second);
  expect(storedPeerings(b)).toEqual([]);
  // No token was used up.
  network.heal();
  expect((await during(b.establish('a', token))).status).toBe(200);
  expect((await b.peering('a')).PeerServerAddresses).toEqual([
    'balancer.example:443',
    'a.example:4720',
  ]);
});

test('a cut link or a silent peer fails the peering until it is back', async () => {
  const { clusters, peer, network, world } = await startClusters(['a', 'b']);
  const { a, b } = clusters;
  await peer(b, a);
  network.open[0]!.cut();
  await world.advance(1);
  expect(await peeringStates(a, b)).toEqual(['FAILING', 'FAILING']);
  expect((await b.peering('a')).StreamStatus.LastError).toBe('the connection was lost');
  await world.advance(second);
  expect(await peeringStates(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
  expect((await b.peering('a')).StreamStatus.LastError).toBe('');
  network.isSilent = true;
  await world.advance(limits.peering.silenceMaxMs - 20 * second);
  expect(await peeringStates(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
  await world.advance(20 * second);
  expect(await peeringStates(a, b)).toEqual(['FAILING', 'FAILING']);
  expect((await a.peering('b')).StreamStatus.LastError).toContain('heartbeat timeout');
  network.isSilent = false;
  await world.advance(30 * second);
  expect(await peeringStates(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
});

test('blocking queries for a peering wake by its stream', async () => {
  const { clusters, peer, during, network, world } = await startClusters(['a', 'b']);
  const { a, b } = clusters;
  await peer(b, a);
  for (const cluster of [a, b]) {
    const other = cluster === a ? 'b' : 'a';
    for (const path of [`/v1/peering/${other}`, '/v1/peerings']) {
      const { headers } = await cluster.api.call('GET', path);
      const index = headers['x-registry-index'];
      const asked = cluster.api.call('GET', `${path}?index=${index}&wait=5m`);
      await world.advance(second);
      network.open[0]!.cut();
      const { json } = await during(asked, 10);
      expect((Array.isArray(json) ? json[0] : json).State).toBe('FAILING');
      await world.advance(30 * second);
    }
  }
  const { lines, stop, isOver } = await a.api.follow('/v1/event/stream?topic=Peering&index=1');
  await world.advance(second);
  stop();
  await isOver;
  const events = lines.flatMap(({ Events = [] }) => Events);
  expect(events.slice(0, 4).map(({ Type, Payload }) => [Type, Payload.Peering.State])).toEqual([
    ['PeeringCreated', 'INITIAL'],
    ['PeeringStateUpdate', 'ESTABLISHING'],
    ['PeeringStateUpdate', 'ACTIVE'],
    ['PeeringStateUpdate', 'FAILING'],
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/Secret|Epoch|Manual|MustForget/);
});

test('attempts become rare without an answer, and a working address is found', async () => {
  const { clusters, peer, network, world } = await startClusters(['a', 'b']);
  const { a, b } = clusters;
  await peer(b, a);
  network.partition(a.address);
  await world.advance(60 * second);
  const before = network.dialled;
  await world.advance(150 * second);
  const times = network.dialled - before;
  expect(times).toBeGreaterThanOrEqual(10);
  expect(times).toBeLessThanOrEqual(20);
  network.heal();
  // It moves to another address and informs its peer when they next connect.
  await world.advance(20 * second);
  expect(await b.state('a')).toBe('ACTIVE');
  const moved = 'moved.example:4720';
  a.api.server.peerings.advertise({ addresses: [moved], caPems: [] });
  await world.advance(100);
  expect((await b.peering('a')).PeerServerAddresses).toEqual([moved]);
  network.leave(a.address);
  network.listen(moved, (link) => void a.api.server.peerings.accept(link));
  await world.advance(20 * second);
  expect(await peeringStates(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
});

test.each(['a', 'b'] as const)('either side may crash and come back: %s', async (who) => {
  const { clusters, peer, world } = await startClusters(['a', 'b']);
  const { a, b } = clusters;
  await peer(b, a);
  const [gone, stays] = who === 'a' ? [a, b] : [b, a];
  await gone.crash();
  await world.advance(second);
  expect(await stays.state(gone.name)).toBe('FAILING');
  await gone.restart();
  await world.advance(20 * second);
  expect(await peeringStates(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
});

test('a new token replaces the secret in use', async () => {
  const { clusters, peer, during, network, world } = await startClusters(['a', 'b']);
  const { a, b } = clusters;
  await peer(b, a);
  const secrets = () => [...a.api.state.read().table(peeringSecrets).scan()][0]!;
  const before = secrets();
  const token = await a.token('b');
  // The stream stays open.
  expect(await peeringStates(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
  expect(secrets()).toMatchObject({ Active: before.Active });
  expect((await during(b.establish('a', token), second)).status).toBe(200);
  expect(await peeringStates(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
  expect(secrets()).toMatchObject({ Establishment: '', Exchanged: '', Pending: '' });
  expect(secrets().Active).not.toBe(before.Active);
  expect(network.open.length).toBe(1);
  expect(storedPeerings(b).map(({ Epoch }) => Epoch)).toEqual([2]);
  await world.advance(60 * second);
  expect(await peeringStates(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
});

test('secrets are sealed with the newest key and remain valid', async () => {
  const { clusters, peer, during, network, world } = await startClusters(['a', 'b']);
  const { a, b } = clusters;
  await peer(b, a);
  const sealed = (cluster: Cluster) =>
    [...cluster.api.state.read().table(peeringSecrets).scan()].map(({ Active }) => Active);
  const before = [sealed(a), sealed(b)];
  for (const cluster of [a, b]) {
    await during(cluster.api.call('PUT', '/v1/operator/keyring/rotate'), second);
  }
  expect([sealed(a), sealed(b)]).not.toEqual(before);
  network.open[0]!.cut();
  await world.advance(5 * second);
  expect(await peeringStates(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
});

test('of three clusters, one can leave without affecting the others', async () => {
  const { clusters, peer, world } = await startClusters(['a', 'b', 'c']);
  const { a, b, c } = clusters;
  await peer(b, a);
  await peer(c, b);
  await peer(a, c);
  const all = async () => [...(await peeringStates(a, b)), ...(await peeringStates(b, c))];
  expect([...(await all()), ...(await peeringStates(a, c))]).toEqual(Array(6).fill('ACTIVE'));
  await c.crash();
  await world.advance(second);
  expect(await peeringStates(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
  expect([await a.state('c'), await b.state('c')]).toEqual(['FAILING', 'FAILING']);
});

test('services are exchanged over the stream, and a failed stream is dialled again', async () => {
  const exchanges = { a: recording(), b: recording() };
  const { clusters, peer, world, network } = await startClusters(['a', 'b'], {
    exchange: (name) => exchanges[name as 'a' | 'b'].exchange,
  });
  const { a, b } = clusters;
  await peer(b, a);
  const [link] = exchanges.a.links;
  expect(link!.send({ type: 'begin' })).toBe(true);
  await world.advance(10);
  expect(exchanges.b.noted).toEqual(['open a', 'receive {"type":"begin"}']);
  expect((await a.peering('b')).StreamStatus).toMatchObject({
    ImportedServices: ['db'],
    ExportedServices: ['web', 'api'],
  });
  exchanges.b.links[0]!.fail('it tells of a service that it does not own');
  await world.advance(2);
  expect(await peeringStates(a, b)).toEqual(['FAILING', 'FAILING']);
  expect((await a.peering('b')).StreamStatus.LastError).toBe(
    'the peer ended it: it tells of a service that it does not own',
  );
  expect(link!.send({ type: 'begin' })).toBe(false);
  await world.advance(second);
  expect(await peeringStates(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
  expect([exchanges.a.links.length, network.open.length]).toEqual([2, 1]);
});

test('a stream opens after data of the former peer is deleted', async () => {
  const exchanges = { a: recording(), b: recording() };
  const { clusters, peer, during, world } = await startClusters(['a', 'b'], {
    exchange: (name) => exchanges[name as 'a' | 'b'].exchange,
  });
  const { a, b } = clusters;
  await peer(b, a);
  const unblock = exchanges.b.block();
  await during(a.api.call('DELETE', '/v1/peering/b'), second);
  expect(await peeringStates(a, b)).toEqual(['none', 'TERMINATED']);
  expect((await b.peering('a')).StreamStatus).toMatchObject({
    ImportedServices: ['db'],
    ExportedServices: [],
  });
  expect((await during(b.establish('a', await a.token('b')), second)).status).toBe(200);
  expect(await b.state('a')).toBe('ESTABLISHING');
  unblock();
  await world.advance(second);
  expect(await peeringStates(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
  expect(exchanges.b.noted.slice(-3)).toEqual(['forget a', 'forgot a', 'open a']);
});
