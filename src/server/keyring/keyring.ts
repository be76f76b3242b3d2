import { assert } from '../../base/assert.ts';
import { instantFromMs } from '../../base/instant.ts';
import type { World } from '../../base/ports.ts';
import { rootKeyBox, type SecretBox } from '../../base/secret-box.ts';
import { type SigningKey, signingKey, signToken } from '../../base/signed-token.ts';
import { refusal } from '../../model/errors.ts';
import type { KeyringKey } from '../../model/keyring/keyring-key.ts';
import { keyringKeys } from '../../state/tables.ts';
import type { State, Transaction, Unstamped } from '../../state/types.ts';

/**
 * The keys that seal the secrets of the state: data keys, which are sealed under the root key. The
 * root key is never in the state.
 *
 * Invariants
 *  K1. State, log and snapshots show no secret without the root key.
 *  K2. One sealing key is active. It changes within the transaction that stores it, and secrets are
 *      sealed only in the transaction that stores them. So later transactions use the new key.
 *  K3. A retired key stays until no row is sealed under it (`rotate.ts`).
 *  K4. The fingerprint key does not rotate: it protects lookups, not contents, and the fingerprints
 *      are of values that cannot be guessed (UUIDs from the system's random source).
 *  K5. One signing key is active, and only a durable key signs. A retired signing key stays for
 *      verification as long as an allocation runs that was there before the key retired.
 *  K6. Between terms of this process it holds the keys that are durable, whoever made them.
 *  K7. A server whose root key opens none of the keys makes none either (`isForeign`).
 */
export class Keyring implements SecretBox {
  readonly #root: SecretBox;
  readonly #world: KeyringWorld;
  readonly #boxes = new Map<string, SecretBox>();
  #active = '';
  #finding: SecretBox | undefined;
  #signing: SigningKey | undefined;
  #isForeign = false;
  #onForeign: () => void = () => {};

  private constructor(root: SecretBox, world: KeyringWorld) {
    this.#root = root;
    this.#world = world;
  }

  /** Opens the keyring of a state that no other process writes, or makes one. @throws WrongRootKey */
  static async open(state: State, rootKey: Uint8Array, world: KeyringWorld): Promise<Keyring> {
    const keyring = Keyring.follow(state, rootKey, world);
    if (keyring.#isForeign) throw new WrongRootKey();
    if (!keyring.isComplete && state.leading !== undefined) await keyring.complete(state);
    return keyring;
  }

  /**
   * Opens the keyring of a state that several processes write. If there is none, the first leader makes one
   * (`completeIn`), and the other servers take the keys as they come.
   */
  static follow(state: State, rootKey: Uint8Array, world: KeyringWorld): Keyring {
    const keyring = new Keyring(rootKeyBox(rootKey, world.secrets), world);
    keyring.#read(state);
    // A key of a term that is over may never have become durable.
    state.onLeadership(() => keyring.#read(state));
    state.onReplaced(() => keyring.#read(state));
    state.onCommit((changes) => {
      if (state.leading !== undefined || changes.every(({ table }) => table !== keyringKeys.name)) {
        return;
      }
      keyring.#read(state);
    });
    return keyring;
  }

  /** Whether the keys of the state are sealed under another root key. */
  get isForeign(): boolean {
    return this.#isForeign;
  }

  /** Calls `run` once when the keyring turns out to be foreign, or now if it is. */
  onForeign(run: () => void): void {
    if (this.#isForeign) run();
    else this.#onForeign = run;
  }

  /** Whether there is a key for everything. */
  get isComplete(): boolean {
    return this.#active !== '' && this.#finding !== undefined && this.#signing !== undefined;
  }

  /** Makes the keys that are missing. */
  async complete(state: State): Promise<void> {
    const { value } = await state.write((transaction) => this.completeIn(transaction));
    if (value !== undefined) this.#takeKey(value);
  }

  /** The same within a transaction. Returns the signing key, for `adoptSigning` once it is durable. */
  completeIn(transaction: Transaction): KeyringKey | undefined {
    assert(!this.#isForeign, 'keys beside those of another root key');
    if (this.#active === '') this.#takeKey(this.#makeKey(transaction, 'sealing'));
    if (this.#finding === undefined) this.#takeKey(this.#makeKey(transaction, 'fingerprint'));
    return this.#signing ? undefined : this.#makeKey(transaction, 'signing');
  }

  /** Whether the root key opens all of the keys. */
  static opens(keys: Iterable<KeyringKey>, rootKey: Uint8Array, world: KeyringWorld): boolean {
    try {
      new Keyring(rootKeyBox(rootKey, world.secrets), world).requireOpens(keys);
      return true;
    } catch (error) {
      if (error instanceof WrongRootKey) return false;
      throw error;
    }
  }

  /** @throws WrongRootKey if the root key does not open the keys */
  requireOpens(keys: Iterable<KeyringKey>): void {
    for (const { Wrapped } of keys) this.#unwrap(Wrapped);
  }

  #unwrap(wrapped: string): Uint8Array {
    try {
      return Buffer.from(this.#root.open(wrapped), 'base64');
    } catch {
      throw new WrongRootKey();
    }
  }

  #read(state: State): void {
    this.#forgetKeys();
    if (this.#isForeign) return;
    try {
      for (const key of state.read().table(keyringKeys).scan()) this.#takeKey(key);
    } catch (error) {
      if (!(error instanceof WrongRootKey)) throw error;
      this.#forgetKeys();
      this.#isForeign = true;
      this.#onForeign();
    }
  }

  #forgetKeys(): void {
    this.#boxes.clear();
    this.#active = '';
    this.#finding = undefined;
    this.#signing = undefined;
  }

  seal(plain: string): string {
    return `${this.#active}${separator}${this.#boxes.get(this.#active)!.seal(plain)}`;
  }

  open(sealed: string): string {
    const box = this.#boxes.get(keyOf(sealed));
    if (box === undefined) throw new Error('this text is sealed under a key that is not here');
    return box.open(sealed.slice(sealed.indexOf(separator) + 1));
  }

  /** @throws RosterError `no-leader` before the first leader has made the keys */
  fingerprint(secret: string): string {
    if (this.#finding === undefined) throw refusal('no-leader');
    return this.#finding.fingerprint(secret);
  }

  /** Whether the text was sealed under a key that is no longer active. */
  isStale(sealed: string): boolean {
    return keyOf(sealed) !== this.#active;
  }

  /** Signs the claims as a token, with the active signing key. */
  sign(claims: object): string {
    return signToken(claims, this.#signing!);
  }

  /** Makes a new signing key, which is used once it is durable and adopted. */
  renewSigning(transaction: Transaction): KeyringKey {
    const table = transaction.table(keyringKeys);
    for (const key of [...table.scan()]) {
      if (key.Purpose === 'signing' && key.State === 'active') {
        table.put({ ...key, State: 'retired' });
      }
    }
    return this.#makeKey(transaction, 'signing');
  }

  adoptSigning(key: KeyringKey): void {
    this.#takeKey(key);
  }

  /** Makes a new sealing key the active one. */
  renew(transaction: Transaction): KeyringKey {
    const table = transaction.table(keyringKeys);
    for (const key of [...table.scan()]) {
      if (isActiveSealing(key)) table.put({ ...key, State: 'retired' });
    }
    const made = this.#makeKey(transaction, 'sealing');
    this.#takeKey(made);
    return made;
  }

  #makeKey(transaction: Transaction, Purpose: KeyringKey['Purpose']): KeyringKey {
    const bytes = this.#world.secrets.bytes(32);
    const KeyID = this.#world.ids.uuid();
    const row: Unstamped<KeyringKey> = {
      KeyID,
      Algorithm: algorithms[Purpose],
      Purpose,
      State: 'active',
      CreateTime: instantFromMs(this.#world.clock.nowMs()),
      Wrapped: this.#root.seal(Buffer.from(bytes).toString('base64')),
      ...(Purpose === 'signing' && { PublicKey: signingKey(KeyID, bytes).publicKey }),
    };
    return transaction.table(keyringKeys).put(row);
  }

  #takeKey(key: KeyringKey): void {
    const bytes = this.#unwrap(key.Wrapped);
    if (key.Purpose === 'signing') {
      if (key.State === 'active') this.#signing = signingKey(key.KeyID, bytes);
      return;
    }
    const box = rootKeyBox(bytes, this.#world.secrets);
    if (key.Purpose === 'fingerprint') {
      this.#finding = box;
      return;
    }
    this.#boxes.set(key.KeyID, box);
    if (key.State === 'active') this.#active = key.KeyID;
  }
}

type KeyringWorld = Pick<World, 'clock' | 'ids' | 'secrets'>;

const algorithms: Readonly<Record<KeyringKey['Purpose'], string>> = {
  sealing: 'aes256-gcm',
  fingerprint: 'hmac-sha256',
  signing: 'ed25519',
};

const separator = ':';

export const keyOf = (sealed: string): string => sealed.slice(0, sealed.indexOf(separator));

export const isActiveSealing = ({ Purpose, State }: KeyringKey): boolean =>
  Purpose === 'sealing' && State === 'active';

/** The state was sealed under another root key. */
export class WrongRootKey extends Error {
  override readonly name = 'WrongRootKey';

  constructor() {
    super(
      'the root key does not open the keyring of this data: it was sealed under another one. Bring back the file "root-key" of the data directory, or name the right file in keyring.root_key_file',
    );
  }
}
