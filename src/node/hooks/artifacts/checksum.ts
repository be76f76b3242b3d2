import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { ArtifactFailure } from './failure.ts';
import type { Checksum } from './source.ts';

/** @throws ArtifactFailure when the checksum differs */
export async function verify(file: string, expected: Checksum, signal: AbortSignal): Promise<void> {
  const hash = createHash(expected.algorithm);
  // Chunk by chunk, so that other work gets its turn.
  for await (const chunk of createReadStream(file, { signal })) hash.update(chunk as Buffer);
  const digest = hash.digest('hex');
  if (digest === expected.digest) return;
  const { algorithm } = expected;
  throw new ArtifactFailure(
    `its checksum is ${algorithm}:${digest}, and ${algorithm}:${expected.digest} was asked for`,
  );
}
