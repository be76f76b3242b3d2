/**
 * Frees the memory of bytes that nobody reads any more, and all other bytes of their buffer. Without that it waits for
 * the collector, which marks the whole heap whenever some 64 MB of such memory are new.
 */
export function release({ buffer }: Uint8Array<ArrayBuffer>): void {
  buffer.transfer(0);
}

/** Frees the memory of bytes that nobody reads any more, unless other bytes lie in their buffer. */
export function releaseUnshared(bytes: Uint8Array): void {
  if (isUnshared(bytes)) release(bytes);
}

/** The bytes in a buffer of their own, which they may have already: small buffers of Node share one. */
export const unshared = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  isUnshared(bytes) ? new Uint8Array(bytes.buffer) : new Uint8Array(bytes);

const isUnshared = (bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> =>
  bytes.byteLength === bytes.buffer.byteLength;
