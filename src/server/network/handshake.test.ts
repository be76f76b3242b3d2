import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { type SocketEnd, socketPair } from '../../model/node-stream/socket-pair.test-helper.ts';
import { type HandshakeOptions, introduce } from './handshake.ts';
import { type Challenge, proofKey, proofOf, type Side } from './proof.ts';

const key = proofKey(new Uint8Array(32).fill(7));
const otherKey = proofKey(new Uint8Array(32).fill(8));

type Outcome = string;
type Changes = Partial<HandshakeOptions>;

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** One side of a handshake; the outcome is the id of the other server, or the code of the failure. */
function begin(world: SimulatedWorld, socket: SocketEnd, side: Side, changes: Changes = {}) {
  const outcomes: Outcome[] = [];
  const id = side === 'dialer' ? 'a' : 'b';
  introduce(
    {
      socket,
      side,
      key,
      self: { id, address: `${id}:4720`, version: '1' },
      binding: 'session',
      secrets: world.secrets,
      timers: world.timers,
      ...(side === 'dialer' && { expects: 'b' }),
      ...changes,
    },
    { proven: (peer) => outcomes.push(peer.id), failed: ({ code }) => outcomes.push(code) },
  );
  return outcomes;
}

async function meet(dialer: Changes = {}, acceptor: Changes = {}) {
  const world = new SimulatedWorld(1);
  const [left, right] = socketPair();
  const accepting = begin(world, right, 'acceptor', acceptor);
  const dialing = begin(world, left, 'dialer', dialer);
  await settle();
  await world.advance(10_000);
  return { outcomes: [dialing, accepting], left, right };
}

test('servers with the same root key know each other, and no message holds the key', async () => {
  const { outcomes, left, right } = await meet();
  expect(outcomes).toEqual([['b'], ['a']]);
  const said = [...left.sent, ...right.sent].join('');
  expect(said).not.toContain(Buffer.from(key).toString('base64'));
  expect(said).not.toContain(Buffer.from(key).toString('hex'));
});

test.each<[string, Changes, Changes, Outcome[]]>([
  ['another root key at the dialer', { key: otherKey }, {}, ['root-key', 'root-key']],
  ['another root key at the acceptor', {}, { key: otherKey }, ['root-key', 'root-key']],
  ['another TLS session', { binding: 'one' }, { binding: 'two' }, ['root-key', 'root-key']],
  ['another server at the address', { expects: 'c' }, {}, ['other-server', 'other-server']],
  [
    'a server that claims to be the dialer',
    { expects: undefined },
    { self: { id: 'a', address: 'b:4720', version: '1' } },
    ['other-server', 'other-server'],
  ],
])('a handshake fails by %s', async (_name, dialer, acceptor, [left, right]) => {
  const { outcomes } = await meet(dialer, acceptor);
  expect(outcomes).toEqual([[left], [right]]);
});

test('a dialer that says nothing is disconnected', async () => {
  const world = new SimulatedWorld(1);
  const [, right] = socketPair();
  const outcomes = begin(world, right, 'acceptor');
  await world.advance(10_000);
  expect(outcomes).toEqual(['timeout']);
});

test.each([
  ['bytes', new Uint8Array(3)],
  ['no JSON', 'hello'],
  ['JSON that is no object', '3'],
  ['no introduction', '{}'],
  ['an introduction without a nonce', '{"hello":{"id":"a","address":"","version":""}}'],
  ['a long message', JSON.stringify({ hello: 'x'.repeat(5000) })],
])('an acceptor that hears %s hangs up', async (_name, message) => {
  const world = new SimulatedWorld(1);
  const [left, right] = socketPair();
  const outcomes = begin(world, right, 'acceptor');
  if (typeof message === 'string') left.sendText(message);
  else left.sendBinary(message);
  await settle();
  expect(outcomes).toEqual(['malformed']);
});

/** The messages of a dialer, sent again on a new connection. */
async function replay(acceptor: Changes) {
  const { left } = await meet({}, acceptor);
  const world = new SimulatedWorld(2);
  const [attacker, right] = socketPair();
  const outcomes = begin(world, right, 'acceptor', acceptor);
  for (const message of left.sent) {
    attacker.sendText(message as string);
    await settle();
  }
  return outcomes;
}

test('a recorded handshake proves nothing on another connection', async () => {
  expect(await replay({})).toEqual(['root-key']);
  // The nonce of the acceptor is what prevents it.
  const { secrets } = new SimulatedWorld(1);
  const worn = { equal: secrets.equal, bytes: (count: number) => new Uint8Array(count) };
  expect(await replay({ secrets: worn })).toEqual(['a']);
});

/** An attacker without the key dials, and sends the proof of the acceptor back. */
async function reflect(prove: HandshakeOptions['prove']) {
  const world = new SimulatedWorld(1);
  const [attacker, right] = socketPair();
  const heard: string[] = [];
  attacker.onMessage((message) => heard.push(message as string));
  const outcomes = begin(world, right, 'acceptor', prove && { prove });
  const hello = { id: 'a', address: 'a:4720', version: '1', nonce: 'mine' };
  attacker.sendText(JSON.stringify({ hello, to: 'b' }));
  await settle();
  const { proof } = JSON.parse(heard[0]!);
  attacker.sendText(JSON.stringify({ proof }));
  await settle();
  return outcomes;
}

test('the proof of a server is of no use against itself', async () => {
  expect(await reflect(undefined)).toEqual(['root-key']);
  // The name of the side in the proof is what prevents it.
  const sideless = (given: Uint8Array, _side: Side, challenge: Challenge) =>
    proofOf(given, 'dialer', challenge);
  expect(await reflect(sideless)).toEqual(['a']);
});

test('a proof is of this key, this side, these servers, these nonces and this session', () => {
  const hello = (id: string) => ({ id, address: `${id}:1`, version: '1', nonce: `nonce-${id}` });
  const challenge: Challenge = { dialer: hello('a'), acceptor: hello('b'), binding: 'session' };
  const proofs = [
    proofOf(key, 'dialer', challenge),
    proofOf(otherKey, 'dialer', challenge),
    proofOf(key, 'acceptor', challenge),
    proofOf(key, 'dialer', { ...challenge, binding: '' }),
    proofOf(key, 'dialer', { ...challenge, dialer: hello('b'), acceptor: hello('a') }),
    proofOf(key, 'dialer', { ...challenge, dialer: { ...hello('a'), nonce: 'other' } }),
    proofOf(key, 'dialer', { ...challenge, acceptor: { ...hello('b'), nonce: 'other' } }),
    proofOf(key, 'dialer', { ...challenge, dialer: { ...hello('a'), address: 'evil:1' } }),
  ];
  expect(new Set(proofs).size).toBe(proofs.length);
});

test('messages that follow the handshake at once belong to its caller', async () => {
  const world = new SimulatedWorld(1);
  const [left, right] = socketPair();
  const heard: unknown[] = [];
  const self = { id: 'b', address: '', version: '1' };
  const common = { key, binding: '', secrets: world.secrets, timers: world.timers };
  const failed = () => {};
  introduce(
    { ...common, socket: right, side: 'acceptor', self },
    { proven: () => right.onMessage((message) => heard.push(message)), failed },
  );
  introduce(
    { ...common, socket: left, side: 'dialer', self: { ...self, id: 'a' } },
    { proven: () => left.sendText('first'), failed },
  );
  await settle();
  expect(heard).toEqual(['first']);
});
