import { Choice, type Model, stamps, Text, Type, Whole } from '../schema.ts';

export const keyPurposes = ['sealing', 'fingerprint', 'signing'] as const;
export const keyStates = ['active', 'retired'] as const;

/**
 * A data key, sealed under the root key. The root key is not part of the state.
 * Source: ARCHITECTURE.md#secrets-and-logins.
 */
export interface KeyringKey extends Model<typeof KeyringKeySchema> {
  readonly Wrapped: string;
  readonly Purpose: (typeof keyPurposes)[number];
  /** For a signing key: the public key of its signatures, as a JWK. */
  readonly PublicKey?: string;
}

/** A key as it is shown. */
export const KeyringKeySchema = Type.Object({
  KeyID: Text(),
  Algorithm: Text(),
  /** `retired`: only opens values that are not sealed again yet. */
  State: Choice(keyStates, 'active'),
  /** Unix nanoseconds. */
  CreateTime: Whole(),
  ...stamps,
});
export type PresentedKeyringKey = Model<typeof KeyringKeySchema>;

export function presentedKey(key: KeyringKey): PresentedKeyringKey {
  const { KeyID, Algorithm, State, CreateTime, CreateIndex, ModifyIndex } = key;
  return { KeyID, Algorithm, State, CreateTime, CreateIndex, ModifyIndex };
}
