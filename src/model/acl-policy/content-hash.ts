import { createHash } from 'node:crypto';

/**
 * Base64 of the SHA-256 over the changeable fields of an object, in a fixed order. The same content has the
 * same hash everywhere. Source: docs/behaviour/access-control.md#content-hashes.
 */
export const contentHash = (content: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(content)).digest('base64');
