import { describe, expect, test } from 'vitest';
import { FrameFault, oneSentence, parseHandshakeFrame, parseStreamFrame } from './frames.ts';
import { proofOf } from './proof.ts';
import { isServerAddress, peerNameFaults } from './rules.ts';
import { establishObstacle, stateOf, tokenObstacle, unknownStream } from './state.ts';
import { decodeToken, encodeToken, TokenFault } from './token.ts';

test.each([
  ['a', true],
  ['a-b', true],
  ['0', true],
  ['a'.repeat(63), true],
  ['a'.repeat(64), false],
  ['', false],
  ['A', false],
  ['-a', false],
  ['a-', false],
  ['a_b', false],
  ['a.b', false],
  ['ä', false],
  ['a\n', false],
])('the name %j', (name, isRight) => {
  expect(peerNameFaults(name, 'testing').length === 0).toBe(isRight);
});

test.each([
  ['10.0.0.1:4720', true],
  ['[::1]:1', true],
  ['[2001:db8::1]:65535', true],
  ['a.b-c.example:443', true],
  ['LOCALHOST:1', true],
  ['under_score:1', true],
  ['::1:1', false],
  ['[::g]:1', false],
  ['[::1', false],
  ['[]:1', false],
  ['1.2.3.256:1', false],
  ['a', false],
  ['a:', false],
  ['a:0', false],
  ['a:01', false],
  ['a:65536', false],
  ['a:1e3', false],
  [':1', false],
  ['a..b:1', false],
  ['-a:1', false],
  ['a@b:1', false],
  ['a/b:1', false],
  [`${'a'.repeat(64)}:1`, false],
  ['a\0:1', false],
  ['a:1\n', false],
])('the address %j', (address, isRight) => {
  expect(isServerAddress(address)).toBe(isRight);
});

const token = {
  caPems: [],
  manualAddresses: ['m:1'],
  addresses: ['[::1]:2'],
  serverName: 's',
  peerId: 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb',
  secret: 'hunter2',
  partition: 'p',
  datacenter: 'dc',
};

test('a token is read back unchanged, also with white space around it', () => {
  expect(decodeToken(` ${encodeToken(token)}\n`)).toEqual(token);
});

test('a cut or changed token is a fault that tells no secret', () => {
  const text = encodeToken(token);
  for (let end = 0; end < text.length; end += 7) {
    try {
      decodeToken(text.slice(0, end));
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(TokenFault);
      expect((error as Error).message).not.toContain('hunter2');
    }
  }
});

const stream = (isOpen: boolean, lastError = '') => ({ ...unknownStream, isOpen, lastError });
const stored = { State: 'INITIAL', IsDialer: false, DeletedAt: 0, Name: 'x' } as const;
const known = { ...stored, State: 'ESTABLISHING' } as const;

test.each([
  ['awaits its peer', stored, stream(false), 'INITIAL'],
  ['was dialled', known, stream(true), 'ACTIVE'],
  ['is no longer dialled', known, stream(false), 'FAILING'],
  ['is about to dial', { ...known, IsDialer: true }, stream(false), 'ESTABLISHING'],
  ['dials', { ...known, IsDialer: true }, stream(true), 'ACTIVE'],
  ['dials in vain', { ...known, IsDialer: true }, stream(false, 'no'), 'FAILING'],
  ['was left', { ...known, State: 'TERMINATED' as const }, stream(true), 'TERMINATED'],
  ['is deleted', { ...known, DeletedAt: 1 }, stream(true), 'TERMINATED'],
])('a peering that %s', (_, row, seen, state) => {
  expect(stateOf(row, seen)).toBe(state);
});

test.each([
  ['none', undefined, true, true],
  ['a peering that awaits its peer', stored, true, false],
  ['a peering that is dialled', known, true, false],
  ['a peering that dials', { ...known, IsDialer: true }, false, true],
  [
    'a dialled peering that the peer deleted',
    { ...known, State: 'TERMINATED' as const },
    true,
    true,
  ],
  [
    'a dialling peering that the peer deleted',
    { ...known, IsDialer: true, State: 'TERMINATED' as const },
    true,
    true,
  ],
  ['a peering that is being deleted', { ...known, DeletedAt: 1 }, false, false],
  [
    'a dialling peering that is being deleted',
    { ...known, IsDialer: true, DeletedAt: 1 },
    false,
    false,
  ],
])('the uses of a name that has %s', (_, row, isToken, isEstablished) => {
  expect([tokenObstacle(row) === undefined, establishObstacle(row) === undefined]).toEqual([
    isToken,
    isEstablished,
  ]);
});

describe('a proof', () => {
  const handshake = { peerId: 'p', dialerNonce: 'd', acceptorNonce: 'a' };
  const self = { id: 'i', serverName: 's', datacenter: 'dc', partition: 'x', addresses: ['a:1'] };
  const proof = proofOf('secret', 'dialer', handshake, self);

  test.each([
    ['secret', proofOf('other', 'dialer', handshake, self)],
    ['side', proofOf('secret', 'acceptor', handshake, self)],
    ['peering', proofOf('secret', 'dialer', { ...handshake, peerId: 'q' }, self)],
    ['nonce of the dialer', proofOf('secret', 'dialer', { ...handshake, dialerNonce: 'e' }, self)],
    [
      'nonce of the acceptor',
      proofOf('secret', 'dialer', { ...handshake, acceptorNonce: 'b' }, self),
    ],
    ...Object.keys(self).map((field): [string, string] => [
      field,
      proofOf('secret', 'dialer', handshake, {
        ...self,
        [field]: field === 'addresses' ? [] : 'z',
      }),
    ]),
  ])('the proof differs with another %s', (_, other) => {
    expect(proof).toMatch(/^[0-9a-f]{64}$/);
    expect(other).not.toBe(proof);
  });
});

test('a sentence of a peer fits a log', () => {
  expect(oneSentence('a\nb\u001b[31m\u2028c')).toBe('a b [31m c');
  expect(oneSentence('x'.repeat(1000)).length).toBe(256);
  const frame = parseStreamFrame(JSON.stringify({ type: 'end', reason: { toString: 1 } }));
  expect(frame).toEqual({ type: 'end', reason: 'for no reason that it told' });
});

test('any text is at worst a fault', () => {
  const texts = ['', '{', '""', '{"type":7}', '{"type":"exchange"}', '{"type":"proof","self":[]}'];
  for (const text of texts) {
    for (const parse of [parseHandshakeFrame, parseStreamFrame]) {
      try {
        parse(text);
      } catch (error) {
        expect(error).toBeInstanceOf(FrameFault);
      }
    }
  }
});
