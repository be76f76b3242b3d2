/**
 * Frees the memory of bytes that nobody reads any more, and all other bytes of their buffer. Without that it waits for
 * the collector, which marks the whole heap whenever some 64 MB of such memory are new.
 */
export function release({ buffer }: Uint8Array<ArrayBuffer>): void {
  buffer.transfer(0);
}
