import { join } from 'node:path';
import type { Ids, Secrets } from '../base/ports.ts';
import { readJson, replaceFile } from './files.ts';

/** The id and secret of a node: made once, in a file that only the agent's user reads. */
export interface NodeIdentity {
  readonly id: string;
  readonly secret: string;
  /** Whether a server has accepted the secret. */
  readonly introduced: boolean;
}

/** Where a node keeps its identity. */
export interface IdentityStore {
  /** The kept identity, or a new one that is kept from now on. */
  read(): Promise<NodeIdentity>;
  write(identity: NodeIdentity): Promise<void>;
}

/** The identity in the data directory. */
export const identityIn = (
  dataDirectory: string,
  world: { readonly ids: Ids; readonly secrets: Secrets },
): IdentityStore => ({
  read: () => readIdentity(dataDirectory, world),
  write: (identity) => writeIdentity(dataDirectory, identity),
});

const pathOf = (dataDirectory: string): string => join(dataDirectory, 'node.json');

/** Throws when the file is damaged: another identity would orphan the node's allocations. */
async function readIdentity(
  dataDirectory: string,
  world: { readonly ids: Ids; readonly secrets: Secrets },
): Promise<NodeIdentity> {
  const path = pathOf(dataDirectory);
  const found = (await readJson(path).catch((error: Error) => {
    throw new Error(`the node's identity in ${path} cannot be read: ${error.message}`);
  })) as { NodeID?: string; SecretID?: string; Introduced?: boolean } | undefined;
  if (found === undefined) {
    const made = { id: world.ids.uuid(), secret: world.secrets.uuid(), introduced: false };
    await writeIdentity(dataDirectory, made);
    return made;
  }
  const { NodeID, SecretID, Introduced } = found;
  if (typeof NodeID !== 'string' || typeof SecretID !== 'string') {
    throw new Error(`the node's identity in ${path} lacks NodeID or SecretID`);
  }
  return { id: NodeID, secret: SecretID, introduced: Introduced === true };
}

async function writeIdentity(dataDirectory: string, identity: NodeIdentity): Promise<void> {
  const { id, secret, introduced } = identity;
  const text = JSON.stringify({ NodeID: id, SecretID: secret, Introduced: introduced });
  await replaceFile(pathOf(dataDirectory), `${text}\n`);
}
