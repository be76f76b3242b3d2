import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hash } from 'node:crypto';
import type { Secrets } from './ports.ts';

/**
 * The storage form of secrets (ARCHITECTURE.md#secrets-and-logins). A sealed secret reveals nothing
 * without the key. A keyed fingerprint finds it again.
 */
export interface SecretBox {
  /** Encrypts the text, each time differently. */
  seal(plain: string): string;
  /** @throws Error if the text was not sealed under this box's keys, or was changed since. */
  open(sealed: string): string;
  /** In lower-case hex, always the same for the same secret. Without the key it cannot be guessed. */
  fingerprint(secret: string): string;
}

const form = 'v1';
// Not in limits: a size of AES-GCM.
const nonceBytes = 12;
// Not in limits: a size of AES-GCM.
const tagBytes = 16;

/** A box under a root key of 32 bytes: AES-256-GCM, and HMAC-SHA256 for the fingerprints. */
export function rootKeyBox(rootKey: Uint8Array, secrets: Pick<Secrets, 'bytes'>): SecretBox {
  if (rootKey.length !== 32) throw new Error('a root key has 32 bytes');
  const derived = (purpose: string) => createHmac('sha256', rootKey).update(purpose).digest();
  // A key object takes a fraction of the time that key bytes take.
  const sealing = createSecretKey(derived('roster seal'));
  const finding = derived('roster fingerprint');
  return {
    seal(plain) {
      const nonce = secrets.bytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce);
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return `${form}:${Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64')}`;
    },
    open(sealed) {
      if (!sealed.startsWith(`${form}:`)) throw new Error('this text is not sealed');
      const bytes = Buffer.from(sealed.slice(form.length + 1), 'base64');
      if (bytes.length < nonceBytes + tagBytes) throw new Error('this sealed text is cut off');
      const decipher = createDecipheriv('aes-256-gcm', sealing, bytes.subarray(0, nonceBytes));
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      const text = decipher.update(bytes.subarray(nonceBytes + tagBytes));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    },
    fingerprint: hmacOf(finding),
  };
}

/** Not in limits: the block size of SHA-256. */
const blockBytes = 64;

/**
 * HMAC-SHA256 by its definition (RFC 2104) over the one-shot hash. Every request needs a fingerprint, and
 * an `Hmac` object for each would take several times as long.
 */
function hmacOf(key: Uint8Array): (text: string) => string {
  if (key.length > blockBytes) throw new Error(`a key has ${blockBytes} bytes at most`);
  const padded = (pad: number): Buffer => {
    const block = Buffer.alloc(blockBytes);
    block.set(key);
    return block.map((byte) => byte ^ pad) as Buffer;
  };
  const [inner, outer] = [padded(0x36), padded(0x5c)];
  return (text) => {
    const within = hash('sha256', Buffer.concat([inner, Buffer.from(text)]), 'buffer');
    return hash('sha256', Buffer.concat([outer, within]), 'hex');
  };
}
