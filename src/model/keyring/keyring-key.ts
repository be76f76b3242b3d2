import { Choice, type Model, stamps, Text, Type, Whole } from '../schema.ts';

export const keyPurposes = ['sealing', 'fingerprint', 'signing'] as const;
export const keyStates = ['active', 'retired'] as const;

/**
 * A data key, sealed under the root key, which is not part of the state.
 * Source: ARCHITECTURE.md#secrets-and-logins.
 */
export interface KeyringKey extends Model<typeof KeyringKeySchema> {
  readonly Wrapped: string;
  readonly Purpose: (typeof keyPurposes)[number];
  /** Of a signing key: the public key for its signatures, as a JWK has it. */
  readonly PublicKey?: string;
}

/** As it is shown. */
export const KeyringKeySchema = Type.Object({
  KeyID: Text(),
  Algorithm: Text(),
  /** `retired`: only opens what is not sealed anew yet. */
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
