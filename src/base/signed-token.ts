import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/**
 * Signed JWTs (RFC 7519) in their compact form, always with EdDSA over Ed25519 (RFC 8037).
 *
 * Libraries for JWTs sign and verify asynchronously. But the caller of a request is found first, without
 * a promise. So this code is ours, and a test compares it with a library.
 *
 * Invariants
 *  W1. The token never chooses the algorithm: a header with another algorithm is refused.
 *  W2. Before the signature of a token is verified, only the id of its key is given out.
 */
export interface SigningKey {
  readonly id: string;
  readonly privateKey: KeyObject;
  /** The public key as a JWK has it: base64url of 32 bytes. */
  readonly publicKey: string;
}

/** RFC 8410: the bytes before the 32 bytes of a private key. */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The signing key of 32 unguessable bytes. */
export function signingKey(id: string, seed: Uint8Array): SigningKey {
  if (seed.length !== 32) throw new Error('a signing key is made of 32 bytes');
  const der = Buffer.concat([pkcs8Head, seed]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { id, privateKey, publicKey: x! };
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export function signToken(claims: object, key: SigningKey): string {
  const text = `${encode({ alg: 'EdDSA', kid: key.id, typ: 'JWT' })}.${encode(claims)}`;
  return `${text}.${sign(null, Buffer.from(text), key.privateKey).toString('base64url')}`;
}

/** A text in the form of a token, not verified yet: see `claimsIn`. */
export interface UnverifiedToken {
  readonly keyId: string;
  readonly text: string;
}

const form = /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/;

/** Whether the text has the form of a token. Cheap for any text. */
export const looksSigned = (text: string): boolean => form.test(text);

/** Returns `undefined` for a token of another form or algorithm. */
export function readToken(text: string): UnverifiedToken | undefined {
  if (!looksSigned(text)) return undefined;
  const head = parsed(text.slice(0, text.indexOf('.')));
  if (head?.alg !== 'EdDSA' || typeof head.kid !== 'string' || 'crit' in head) return undefined;
  return { keyId: head.kid, text };
}

/** The claims of a token; `undefined` if the key did not sign it. */
export function claimsIn(
  { text }: UnverifiedToken,
  publicKey: string,
): Readonly<Record<string, unknown>> | undefined {
  const end = text.lastIndexOf('.');
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey };
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const signature = Buffer.from(text.slice(end + 1), 'base64url');
  if (!verify(null, Buffer.from(text.slice(0, end)), key, signature)) return undefined;
  return parsed(text.slice(text.indexOf('.') + 1, end));
}

function parsed(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isRecord ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
