import { limits } from '../limits.ts';
import { shapeFault } from './frame-shape.ts';
import type { SelfDescription } from './proof.ts';
import { isServerAddress } from './rules.ts';
import { uuidForm } from './token.ts';

/**
 * The frames of the stream of a peering: each is a JSON object. The `dialer` is the side that opens the
 * stream, the `acceptor` the other side. Source: docs/behaviour/peering.md#the-stream.
 *
 *     dialer: establish  acceptor: established                            a token becomes a secret
 *     dialer: open       acceptor: challenge
 *     dialer: proof      acceptor: accepted                               both sides are authenticated
 *     then both: heartbeat, exchange, goodbye, farewell, end; the acceptor: addresses
 *
 * A side may end the stream at any time, with the reason: by `refused` before both sides are
 * authenticated, by `end` after that.
 */
export type HandshakeFrame =
  | {
      readonly type: 'establish';
      readonly peerId: string;
      /** The secret of the token. */
      readonly secret: string;
      /** The secret that opens streams from now on. */
      readonly streamSecret: string;
      readonly self: SelfDescription;
    }
  | { readonly type: 'established'; readonly self: SelfDescription }
  | { readonly type: 'open'; readonly peerId: string; readonly nonce: string }
  | { readonly type: 'challenge'; readonly nonce: string }
  | { readonly type: 'proof'; readonly proof: string; readonly self: SelfDescription }
  | { readonly type: 'accepted'; readonly proof: string; readonly self: SelfDescription }
  | { readonly type: 'refused'; readonly code: RefusalCode; readonly reason: string };

/** `secret`: trying again does not help. `later`: trying again may help. */
export type RefusalCode = 'secret' | 'later';

export type StreamFrame =
  | { readonly type: 'heartbeat' }
  | { readonly type: 'addresses'; readonly addresses: readonly string[] }
  /** A frame of the exchange of services. */
  | { readonly type: 'exchange'; readonly frame: unknown }
  /** The sender deleted the peering. */
  | { readonly type: 'goodbye' }
  /** The goodbye was received and is durable. */
  | { readonly type: 'farewell' }
  | { readonly type: 'end'; readonly reason: string };

/** A text that is not a frame. The message ends a sentence, and repeats nothing of the text. */
export class FrameFault extends Error {
  override readonly name = 'FrameFault';
}

type Raw = Readonly<Record<string, unknown>>;

/** @throws FrameFault */
export function parseHandshakeFrame(text: string): HandshakeFrame {
  const raw = rawFrame(text, limits.peering.handshakeFrameBytesMax);
  switch (raw.type) {
    case 'establish': {
      const [secret, streamSecret] = [textIn(raw, 'secret'), hexIn(raw, 'streamSecret')];
      return { type: 'establish', peerId: idIn(raw), secret, streamSecret, self: selfIn(raw) };
    }
    case 'established':
      return { type: 'established', self: selfIn(raw) };
    case 'open':
      return { type: 'open', peerId: idIn(raw), nonce: hexIn(raw, 'nonce') };
    case 'challenge':
      return { type: 'challenge', nonce: hexIn(raw, 'nonce') };
    case 'proof':
      return { type: 'proof', proof: hexIn(raw, 'proof'), self: selfIn(raw) };
    case 'accepted':
      return { type: 'accepted', proof: hexIn(raw, 'proof'), self: selfIn(raw) };
    case 'refused': {
      const code = raw.code === 'secret' ? 'secret' : 'later';
      return { type: 'refused', code, reason: sentenceIn(raw) };
    }
    default:
      throw new FrameFault('a frame of an unknown type came');
  }
}

/** @throws FrameFault */
export function parseStreamFrame(text: string): StreamFrame {
  const raw = rawFrame(text, limits.peering.frameBytesMax);
  switch (raw.type) {
    case 'heartbeat':
    case 'goodbye':
    case 'farewell':
      return { type: raw.type };
    case 'addresses':
      return { type: 'addresses', addresses: addressesIn(raw) };
    case 'exchange':
      return { type: 'exchange', frame: raw.frame };
    case 'end':
    case 'refused':
      return { type: 'end', reason: sentenceIn(raw) };
    default:
      throw new FrameFault('a frame of an unknown type came');
  }
}

function rawFrame(text: string, bytesMax: number): Raw {
  if (text.length > bytesMax) throw new FrameFault(`a frame of more than ${bytesMax} bytes came`);
  const fault = shapeFault(text);
  if (fault !== undefined) throw new FrameFault(fault);
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    throw new FrameFault('a frame came that is not JSON');
  }
  if (isRecord(raw)) return raw;
  throw new FrameFault('a frame came that is no object');
}

const isRecord = (value: unknown): value is Raw =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function textIn(raw: Raw, name: string): string {
  const value = raw[name];
  const { lengthMax } = limits.names;
  if (typeof value === 'string' && value.length <= lengthMax && !value.includes('\0')) return value;
  throw new FrameFault(`a frame came whose "${name}" is no short text`);
}

/** 32 bytes in hexadecimal. */
function hexIn(raw: Raw, name: string): string {
  const value = textIn(raw, name);
  if (/^[0-9a-f]{64}$/.test(value)) return value;
  throw new FrameFault(`a frame came whose "${name}" is not 32 bytes in hexadecimal`);
}

function idIn(raw: Raw, name = 'peerId'): string {
  const value = textIn(raw, name);
  if (uuidForm.test(value)) return value;
  throw new FrameFault(`a frame came whose "${name}" is no UUID`);
}

function addressesIn(raw: Raw): readonly string[] {
  const value = raw.addresses;
  const isList = Array.isArray(value) && value.length <= limits.peering.addressesMax;
  if (isList && value.every((one) => typeof one === 'string' && isServerAddress(one))) {
    return value as string[];
  }
  throw new FrameFault('a frame came whose "addresses" are not addresses');
}

function selfIn(raw: Raw): SelfDescription {
  const { self } = raw;
  if (!isRecord(self)) throw new FrameFault('a frame came that does not say who speaks');
  const serverName = textIn(self, 'serverName');
  if (serverName === '') throw new FrameFault('a frame came that does not say who speaks');
  return {
    id: idIn(self, 'id'),
    serverName,
    datacenter: textIn(self, 'datacenter'),
    partition: textIn(self, 'partition'),
    addresses: addressesIn(self),
  };
}

/** A sentence of another cluster, made fit for a log and a table: one line, and short. */
function sentenceIn(raw: Raw): string {
  const text = typeof raw.reason === 'string' ? raw.reason : '';
  return oneSentence(text) || 'for no reason that it told';
}

export const oneSentence = (text: string): string =>
  [...text.slice(0, limits.peering.reasonLengthMax)]
    .map((character) => (/[\p{C}\p{Z}]/u.test(character) ? ' ' : character))
    .join('');
