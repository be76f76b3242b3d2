/** Secrets and files that an agent keeps in its data directory. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { World } from './base/ports.ts';
import { isUuid } from './model/acl-token/write.ts';
import { WrongRootKey } from './server/keyring/keyring.ts';
import { keyringKeys } from './state/tables.ts';
import type { State } from './state/types.ts';

/** A file whose presence allows another first token; `read` yields its text, if there is one. */
export const resetFile = (path: string) => ({
  async read(): Promise<string | undefined> {
    try {
      return await readFile(path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  },
  remove: () => rm(path, { force: true }),
});

/**
 * The root key of the data directory, 32 bytes, which seals the keyring. A new key is made only
 * for a state without a keyring, since it could not open an existing keyring.
 */
export async function keptRootKey(
  dataDirectory: string | undefined,
  state: State,
  world: World,
): Promise<Uint8Array> {
  const make = () => {
    if (state.read().table(keyringKeys).size > 0) throw new WrongRootKey();
    return Buffer.from(world.secrets.bytes(rootKeyBytes)).toString('base64');
  };
  return parseRootKey(await kept(dataDirectory, 'root-key', make));
}

// Not in limits: the key length of the cipher.
const rootKeyBytes = 32;

/** @throws Error if the text is not 32 bytes in base64 */
export function parseRootKey(text: string): Uint8Array {
  const bytes = Buffer.from(text.trim(), 'base64');
  if (bytes.length === rootKeyBytes) return bytes;
  throw new Error(
    'the root key must be 32 bytes in base64, as "openssl rand -base64 32" makes them',
  );
}

/** @throws Error if the text is not a UUID */
export function parseRootToken(text: string): string {
  const token = text.trim().toLowerCase();
  if (isUuid(token)) return token;
  throw new Error('the file of the root token must hold a UUID, such as one made by "uuidgen"');
}

/** A secret that is generated once and kept in the data directory, readable only by its user. */
export async function keptSecret(
  dataDirectory: string | undefined,
  name: string,
  world: Pick<World, 'secrets'>,
): Promise<string> {
  return kept(dataDirectory, name, () => world.secrets.uuid());
}

async function kept(
  dataDirectory: string | undefined,
  name: string,
  make: () => string,
): Promise<string> {
  if (dataDirectory === undefined) return make();
  const path = join(dataDirectory, name);
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const secret = make();
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  await writeFile(path, `${secret}\n`, { mode: 0o600, flag: 'wx' });
  return secret;
}
