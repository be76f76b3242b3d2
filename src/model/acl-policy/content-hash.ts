import { createHash } from 'node:crypto';

/**
 * Base64 of the SHA-256 over what may change of an object, in a fixed order. Nothing else goes in:
 * the same content has the same hash wherever and whenever it is. Source: facts/registry.md §2.11.
 */
export const contentHash = (content: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(content)).digest('base64');
