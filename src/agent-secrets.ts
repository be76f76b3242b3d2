/** Secrets and files that an agent keeps in its data directory. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { World } from './base/ports.ts';
import { isUuid } from './model/acl-token/write.ts';
import { limits } from './model/limits.ts';
import { Backoff } from './node/backoff.ts';
import type { Log } from './server/context.ts';
import { type KeyService, unwrapRootKey } from './server/keyring/key-service.ts';
import { Keyring, WrongRootKey } from './server/keyring/keyring.ts';
import { HttpOutbound } from './server/login/outbound-http.ts';
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
 * for a state without a keyring, since it could not open an existing keyring. A server of several without
 * the key gets a random key that opens nothing: it stays up and answers `not-ready`.
 */
export async function keptRootKey(
  dataDirectory: string | undefined,
  state: State,
  world: World,
  isAlone: boolean,
): Promise<Uint8Array> {
  const make = () => {
    if (state.read().table(keyringKeys).size > 0) throw new WrongRootKey();
    return Buffer.from(world.secrets.bytes(rootKeyBytes)).toString('base64');
  };
  try {
    return parseRootKey(await kept(dataDirectory, 'root-key', make), rootKeyFileOf(dataDirectory));
  } catch (error) {
    if (isAlone || !(error instanceof WrongRootKey)) throw error;
    return world.secrets.bytes(rootKeyBytes);
  }
}

/** Whether a server with the given root key, or else that of its data directory, can use the keyring, or make one. */
export async function opensKeyring(
  given: Uint8Array | undefined,
  dataDirectory: string | undefined,
  state: State,
  world: World,
): Promise<boolean> {
  const keys = state.read().table(keyringKeys);
  if (keys.size === 0) return true;
  const text = given === undefined ? await read(dataDirectory, 'root-key') : undefined;
  const rootKey = text === undefined ? given : parseRootKey(text, rootKeyFileOf(dataDirectory));
  return rootKey !== undefined && Keyring.opens(keys.scan(), rootKey, world);
}

interface Waiting {
  readonly world: World;
  readonly log: Log;
  /** Ends the waiting, which then rejects with its reason. */
  readonly signal?: AbortSignal;
}

/**
 * The root key of the options. A service is asked until it has opened it.
 * @param onFailure called with the reason of each failed try
 */
export async function givenRootKey(
  given: Uint8Array | KeyService | undefined,
  { world, log, signal = new AbortController().signal }: Waiting,
  onFailure: (reason: string) => void,
): Promise<Uint8Array | undefined> {
  return given === undefined || given instanceof Uint8Array
    ? given
    : openedBy(given, { world, log, signal }, onFailure);
}

async function openedBy(
  service: KeyService,
  { world, log, signal }: Required<Waiting>,
  onFailure: (reason: string) => void,
): Promise<Uint8Array> {
  const outbound = new HttpOutbound(world.timers);
  const { serviceRetryMinMs: minMs, serviceRetryMaxMs: maxMs } = limits.keyring;
  const { timers, random } = world;
  const backoff = new Backoff({ minMs, maxMs, timers, random });
  try {
    for (;;) {
      try {
        return parseRootKey(await unwrapRootKey(outbound.call, service));
      } catch (error) {
        const reason = `the root key is not there: ${(error as Error).message}`;
        log.error({ url: service.url }, `${reason}; the service is asked again`);
        onFailure(reason);
      }
      await backoff.wait(signal);
      signal.throwIfAborted();
    }
  } finally {
    await outbound.close();
  }
}

// Not in limits: the key length of the cipher.
const rootKeyBytes = 32;

const rootKeyFileOf = (dataDirectory: string | undefined) =>
  dataDirectory && join(dataDirectory, 'root-key');

/**
 * @param file where the text is from
 * @throws Error if the text is not 32 bytes in base64
 */
export function parseRootKey(text: string, file?: string): Uint8Array {
  const bytes = Buffer.from(text.trim(), 'base64');
  if (bytes.length === rootKeyBytes) return bytes;
  const place = file === undefined ? '' : ` in "${file}"`;
  throw new Error(
    `the root key${place} must be 32 bytes in base64, as "openssl rand -base64 32" makes them`,
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
  const known = await read(dataDirectory, name);
  if (known !== undefined) return known;
  const secret = make();
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  await writeFile(join(dataDirectory, name), `${secret}\n`, { mode: 0o600, flag: 'wx' });
  return secret;
}

/** `undefined`: there is no such file. */
async function read(dataDirectory: string | undefined, name: string): Promise<string | undefined> {
  if (dataDirectory === undefined) return undefined;
  try {
    return (await readFile(join(dataDirectory, name), 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}
