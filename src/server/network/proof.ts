import { createHmac, hkdfSync } from 'node:crypto';

/** Which side of a connection speaks. */
export type Side = 'dialer' | 'acceptor';

/** The description of a server for the other servers. */
export interface Introduction {
  readonly id: string;
  /** `host:port` of its API. */
  readonly address: string;
  readonly version: string;
}

/** The first message of a side. */
export interface Hello extends Introduction {
  readonly nonce: string;
}

/** What both sides of a connection know before the first proof. */
export interface Challenge {
  readonly dialer: Hello;
  readonly acceptor: Hello;
  /** Keying material of the TLS session; empty without TLS. */
  readonly binding: string;
}

/** Not in limits: the output of the hash. */
const keyBytes = 32;

/** The key of the proofs. It opens no secret, and does not tell the root key. */
export const proofKey = (rootKey: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', rootKey, '', 'roster proof between servers 1', keyBytes));

/**
 * Shows that `side` knows the root key, and speaks for itself, now, on this very connection: both nonces
 * are fresh, the text of one side never fits the other one, and the TLS session is part of it.
 */
export function proofOf(key: Uint8Array, side: Side, challenge: Challenge): string {
  const { dialer, acceptor, binding } = challenge;
  const told = [dialer, acceptor].map(({ id, address, version, nonce }) => [
    id,
    address,
    version,
    nonce,
  ]);
  const text = JSON.stringify(['roster servers 1', side, told, binding]);
  return createHmac('sha256', key).update(text).digest('hex');
}
