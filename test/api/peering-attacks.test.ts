import { expect, test } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { proofOf } from '../../src/model/peering/proof.ts';
import { decodeToken, encodeToken } from '../../src/model/peering/token.ts';
import { type Cluster, startClusters, storedPeerings } from '../support/clusters.ts';
import type { Tapped } from '../support/peer-network.ts';

const second = 1000;
const hex = (letter: string) => letter.repeat(64);
const uuid = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const self = {
  id: uuid,
  serverName: 'server.mallory.peering',
  datacenter: 'dc9',
  partition: 'default',
  addresses: [],
};

const states = async (one: Cluster, other: Cluster) => [
  await one.state(other.name),
  await other.state(one.name),
];

// biome-ignore lint/suspicious/noExplicitAny: frames of every shape.
const framesOf = ({ frames }: Tapped): any[] => frames.map(({ text }) => JSON.parse(text));

/** A connected peering of b and a, and one of c and a that must not be affected. */
async function threeClusters() {
  const logged: string[] = [];
  const log = (cluster: string, level: string, line: string) =>
    void logged.push(`${cluster} ${level} ${line}`);
  const started = await startClusters(['a', 'b', 'c'], { log });
  const { a, b, c } = started.clusters;
  await started.peer(b, a);
  await started.peer(c, a);
  return { ...started, ...started.clusters, logged };
}

test('no secret is sent on an open stream, and none is sent twice', async () => {
  const { network, world, a } = await threeClusters();
  await world.advance(60 * second);
  const [establishing, stream] = network.links.map(framesOf);
  const { secret, streamSecret } = establishing![0];
  expect(establishing!.map(({ type }) => type)).toEqual(['establish', 'established']);
  expect(stream!.slice(0, 4).map(({ type }) => type)).toEqual([
    'open',
    'challenge',
    'proof',
    'accepted',
  ]);
  const all = network.links.flatMap(({ frames }) => frames.map(({ text }) => text));
  for (const hidden of [secret, streamSecret]) {
    expect(all.filter((text) => text.includes(hidden)).length).toBe(1);
  }
  // The secret is not shown or stored in plain form.
  const rows = [...storedPeerings(a), await a.peering('b')];
  expect(JSON.stringify(rows)).not.toMatch(new RegExp(`${secret}|${streamSecret}`));
});

test('the messages that opened a stream open no other stream', async () => {
  const { network, world, a, b } = await threeClusters();
  const [, stream] = network.links;
  const replay = framesOf(stream!).filter(({ type }) => type === 'open' || type === 'proof');
  const { heard, say } = await dialled(network.stranger(a.address), world);
  say(replay[0]);
  await world.advance(5);
  expect(heard[0]).toMatchObject({ type: 'challenge' });
  say(replay[1]);
  await world.advance(5);
  expect(heard[1]).toMatchObject({
    type: 'refused',
    code: 'secret',
    reason: expect.stringContaining('the peering is unknown there'),
  });
  expect(await states(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
  expect(network.open.length).toBe(2);
});

test('the proof of one side is not valid for the other side', async () => {
  const { network, world, a, b } = await threeClusters();
  const [peering] = storedPeerings(a);
  // Without a secret, one can only return the peer's own messages.
  const { heard, say } = await dialled(network.stranger(a.address), world);
  say({ type: 'open', peerId: peering!.ID, nonce: hex('a') });
  await world.advance(5);
  const { nonce } = heard[0];
  const handshake = { peerId: peering!.ID, dialerNonce: hex('a'), acceptorNonce: nonce };
  for (const proof of [nonce, hex('0'), proofOf('', 'dialer', handshake, self)]) {
    const other = await dialled(network.stranger(a.address), world);
    other.say({ type: 'open', peerId: peering!.ID, nonce: hex('a') });
    await world.advance(5);
    other.say({ type: 'proof', proof, self });
    await world.advance(5);
    expect(other.heard[1]).toMatchObject({ type: 'refused' });
  }
  const parts = [handshake, self] as const;
  expect(proofOf('s', 'dialer', ...parts)).not.toBe(proofOf('s', 'acceptor', ...parts));
  expect(await states(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
});

test('a server at the address of a peer has to prove its identity', async () => {
  const { network, world, a, b, c } = await threeClusters();
  network.leave(a.address);
  // Another cluster, and then an impostor that confirms everything.
  network.listen(a.address, (link) => void b.api.server.peerings.accept(link));
  await world.advance(20 * second);
  expect(await b.peering('a')).toMatchObject({ State: 'FAILING' });
  network.listen(a.address, (link) => {
    link.onFrame((text) => {
      const { type } = JSON.parse(text);
      const said = { ...self, serverName: 'server.a.peering' };
      if (type === 'open') link.send(JSON.stringify({ type: 'challenge', nonce: hex('b') }));
      if (type !== 'proof') return;
      link.send(JSON.stringify({ type: 'accepted', proof: JSON.parse(text).proof, self: said }));
    });
  });
  await world.advance(20 * second);
  expect((await b.peering('a')).StreamStatus.LastError).toContain(
    'the server there could not show that it belongs to the peer',
  );
  expect(await c.state('a')).toBe('FAILING');
  network.listen(a.address, (link) => void a.api.server.peerings.accept(link));
  await world.advance(20 * second);
  expect([...(await states(a, b)), await c.state('a')]).toEqual(['ACTIVE', 'ACTIVE', 'ACTIVE']);
});

test('a token that is shown to another cluster is refused with that among the reasons', async () => {
  const { clusters, during, network } = await startClusters(['a', 'b', 'c']);
  const { a, b, c } = clusters;
  const token = await a.token('b');
  network.leave(a.address);
  network.listen(a.address, (link) => void c.api.server.peerings.accept(link));
  const refused = await during(b.establish('a', token));
  expect(refused).toMatchObject({ status: 403, json: { code: 'peering-token-refused' } });
  expect(refused.json.detail).toContain('or another cluster answers at the address in it');
  // Nothing was used up.
  network.leave(a.address);
  network.listen(a.address, (link) => void a.api.server.peerings.accept(link));
  expect((await during(b.establish('a', token))).status).toBe(200);
});

test('a token whose server name was changed is used up, and the answer says so', async () => {
  const { clusters, during } = await startClusters(['a', 'b']);
  const { a, b } = clusters;
  const token = await a.token('b');
  const changed = encodeToken({ ...decodeToken(token), serverName: 'server.other.peering' });
  const answer = await during(b.establish('a', changed), 4 * second);
  expect(answer).toMatchObject({ status: 503, json: { code: 'peer-unreachable' } });
  expect(answer.json.detail).toContain(
    'the server there took the token, and is of another cluster than the token names, so a new peering token must be generated',
  );
  expect(storedPeerings(b)).toEqual([]);
  expect((await during(b.establish('a', token))).status).toBe(403);
});

test("a side's statement about itself cannot be changed in transit", async () => {
  const { clusters, peer, network, world } = await startClusters(['a', 'b']);
  const { a, b } = clusters;
  network.tamper = (text, by) =>
    by === 'acceptor' && text.includes('"accepted"')
      ? text.replace('a.example:4720', 'mallory.example:4720')
      : text;
  await peer(b, a);
  await world.advance(second);
  expect(await b.peering('a')).toMatchObject({
    State: 'FAILING',
    PeerServerAddresses: ['a.example:4720'],
  });
  network.tamper = (text) => text;
  await world.advance(20 * second);
  expect(await states(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
});

const strange: readonly (readonly [string, unknown, string])[] = [
  ['no JSON', 'nonsense', 'a frame came that is not JSON'],
  ['no object', '[1]', 'a frame came that is no object'],
  ['null', 'null', 'a frame came that is no object'],
  ['an unknown type', { type: 'mystery' }, 'a frame of an unknown type came'],
  ['no type', {}, 'a frame of an unknown type came'],
  ['a frame of a stream', { type: 'goodbye' }, 'a frame of an unknown type came'],
  ['the answer', { type: 'accepted', proof: hex('a'), self }, 'came where none was expected'],
  ['no id', { type: 'open', peerId: 'x', nonce: hex('a') }, 'whose "peerId" is no UUID'],
  ['a short nonce', { type: 'open', peerId: uuid, nonce: 'aa' }, 'not 32 bytes in hexadecimal'],
  ['an invalid nonce', { type: 'open', peerId: uuid, nonce: 7 }, '"nonce" is no short text'],
  [
    'nobody',
    { type: 'establish', peerId: uuid, secret: 's', streamSecret: hex('a') },
    'who speaks',
  ],
  [
    'an invalid address',
    {
      type: 'establish',
      peerId: uuid,
      secret: 's',
      streamSecret: hex('a'),
      self: { ...self, addresses: ['http://x'] },
    },
    'whose "addresses" are not addresses',
  ],
  ['too much', `"${'x'.repeat(100_000)}"`, 'more than 65536 bytes'],
];

test.each(strange)('a stranger who sends %s is refused', async (_, frame, reason) => {
  const { network, world, clusters } = await startClusters(['a']);
  const { heard, say, link } = await dialled(network.stranger(clusters.a.address), world);
  say(frame);
  await world.advance(5);
  expect(heard).toEqual([{ type: 'refused', code: 'later', reason: expect.any(String) }]);
  expect(heard[0].reason).toContain(reason);
  expect(await link.closed).toContain(reason);
});

test('a stranger who is silent, sends too much or comes too often is disconnected', async () => {
  const { network, world, a, b, clusters } = await threeClusters();
  const silent = await dialled(network.stranger(a.address), world);
  await world.advance(limits.peering.handshakeTimeoutMs + 10);
  expect(await silent.link.closed).toContain('it said nothing for 5 s');
  const loud = await dialled(network.stranger(a.address), world);
  for (let count = 0; count < 100; count++) loud.say({ type: 'challenge', nonce: hex('a') });
  await world.advance(10);
  expect(loud.heard.length).toBe(1);
  const many = [];
  for (let count = 0; count <= limits.peering.strangersMax; count++) {
    many.push(await dialled(network.stranger(a.address), world));
  }
  await world.advance(10);
  // The longest-waiting connection makes room.
  const reasons = many.map(({ heard }) => heard[0]?.reason);
  expect(reasons[0]).toBe('too many streams are about to open there');
  expect(reasons.slice(1)).toEqual(Array(limits.peering.strangersMax).fill(undefined));
  await world.advance(limits.peering.handshakeTimeoutMs + 10);
  expect(await states(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
  expect(await a.state(clusters.c.name)).toBe('ACTIVE');
});

test('a peer gets in while strangers occupy all places, which they keep only briefly', async () => {
  const { network, world, a, b } = await threeClusters();
  const [, stream] = network.links;
  const many = [];
  for (let count = 0; count < limits.peering.strangersMax; count++) {
    many.push(await dialled(network.stranger(a.address), world));
  }
  stream!.cut();
  await world.advance(second);
  expect(await states(a, b)).toEqual(['ACTIVE', 'ACTIVE']);
  await world.advance(limits.peering.handshakeTimeoutMs);
  const reasons = await Promise.all(many.map(({ link }) => link.closed));
  expect(new Set(reasons)).toEqual(
    new Set(['too many streams are about to open there', 'it said nothing for 5 s']),
  );
});

const misbehaved: readonly (readonly [string, (link: Tapped) => readonly string[], string])[] = [
  ['no JSON', () => ['nonsense'], 'a frame came that is not JSON'],
  ['an unknown type', () => ['{"type":"mystery"}'], 'a frame of an unknown type came'],
  ['the handshake again', ({ frames }) => [frames[0]!.text], 'a frame of an unknown type came'],
  ['addresses', () => ['{"type":"addresses","addresses":[]}'], 'addresses that are not asked for'],
  ['too much', () => ['x'.repeat(limits.peering.frameBytesMax + 1)], 'more than 1048576 bytes'],
  ['nothing but brackets', () => ['['.repeat(limits.peering.frameBytesMax)], 'deeper than 16'],
  ['a thousand names', () => [`{"a":[${'1,'.repeat(3000)}1]}`], 'more than 2048 members'],
  ['too often', () => Array(3000).fill('{"type":"heartbeat"}'), 'it sends too many frames'],
  [
    'too many bytes',
    () => {
      const frame = `{"type":"heartbeat","x":"${'x'.repeat(1_000_000)}"}`;
      return Array(Math.ceil(limits.peering.bytesBurst / frame.length) + 20).fill(frame);
    },
    'it sends too many bytes',
  ],
];

test.each(misbehaved)(
  'a peer that sends %s loses its stream, and others notice nothing',
  async (_, frames, reason) => {
    const { network, world, a, c, logged } = await threeClusters();
    const [, stream] = network.links;
    const others = network.open.length - 1;
    for (const frame of frames(stream!)) stream!.inject('dialer', frame);
    await world.advance(3);
    expect(await a.state('b')).toBe('FAILING');
    expect((await a.peering('b')).StreamStatus.LastError).toContain(reason);
    expect(logged.filter((line) => line.startsWith('a warn')).join('\n')).toContain(reason);
    expect([await a.state('c'), await c.state('a')]).toEqual(['ACTIVE', 'ACTIVE']);
    expect(network.open.length).toBe(others);
    await world.advance(20 * second);
    expect(await a.state('b')).toBe('ACTIVE');
  },
);

test('a peer that keeps sending other addresses loses its stream', async () => {
  const { world, a, b, c } = await threeClusters();
  for (let count = 0; count < 20; count++) {
    a.api.server.peerings.advertise({ addresses: [`x${count}.example:1`], caPems: [] });
  }
  await world.advance(5);
  expect((await b.peering('a')).StreamStatus.LastError).toBe('it tells other addresses too often');
  expect((await c.peering('a')).State).toBe('FAILING');
});

test('a cluster does not peer with itself', async () => {
  const { clusters, during } = await startClusters(['a']);
  const { a } = clusters;
  const token = await a.token('b');
  const answer = await during(a.establish('c', token));
  expect(answer.status).toBe(400);
  expect(answer.json.errors[0].message).toContain(
    'cannot create a peering within the same cluster "server.',
  );
  expect(answer.text).not.toContain(decodeToken(token).secret);
});

test('the secret of one peering is not valid for another', async () => {
  const { clusters, during } = await startClusters(['a', 'b', 'c']);
  const { a, b } = clusters;
  const [forB, forC] = [await a.token('b'), await a.token('c')].map(decodeToken);
  const forged = Buffer.from(
    JSON.stringify({
      CA: [],
      ManualServerAddresses: [],
      ServerAddresses: forB!.addresses,
      ServerName: forB!.serverName,
      PeerID: forB!.peerId,
      EstablishmentSecret: forC!.secret,
    }),
  ).toString('base64');
  expect((await during(b.establish('a', forged))).status).toBe(403);
  // A token of a cluster that answers at another cluster's address.
  const elsewhere = Buffer.from(
    JSON.stringify({
      ServerAddresses: ['c.example:4720'],
      ServerName: forB!.serverName,
      PeerID: forB!.peerId,
      EstablishmentSecret: forB!.secret,
    }),
  ).toString('base64');
  expect((await during(b.establish('a', elsewhere))).status).toBe(403);
  // Neither had an effect.
  expect((await during(b.establish('a', await a.token('b')))).status).toBe(200);
});

test('logs contain no secrets', async () => {
  const { network, world, logged, a, b } = await threeClusters();
  await world.advance(second);
  const secrets = network.links
    .flatMap(framesOf)
    .flatMap(({ secret, streamSecret }) => [secret, streamSecret])
    .filter(Boolean);
  network.open[0]!.cut();
  await world.advance(second);
  await a.crash();
  await world.advance(60 * second);
  expect(secrets.length).toBe(4);
  expect(logged.length).toBeGreaterThan(5);
  for (const secret of secrets) expect(logged.join('\n')).not.toContain(secret);
  expect(await b.state('a')).toBe('FAILING');
});

async function dialled<T>(
  asked: Promise<T>,
  world: { advance(ms: number): Promise<void> },
): Promise<T> {
  await world.advance(2);
  return asked;
}
