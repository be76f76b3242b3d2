import { limits } from '../limits.ts';
import { LinkSchema } from '../namespace/namespace.ts';
import {
  Flag,
  FullList,
  type Model,
  Nanoseconds,
  Nullable,
  ResponseOnly,
  stamps,
  Text,
  Type,
} from '../schema.ts';
import { type Identities, identityProperties, type StoredLink } from './identities.ts';

/**
 * A token as it is stored. Its secret is sealed, and the token is found by the fingerprint of the secret
 * (`base/secret-box.ts`). Links are by id. Source: docs/contract/access-control.md#tokens.
 */
export interface AclToken extends Identities {
  readonly AccessorID: string;
  readonly SecretSealed: string;
  readonly SecretHash: string;
  readonly Description: string;
  readonly Policies: readonly StoredLink[];
  readonly Roles: readonly StoredLink[];
  readonly Local: boolean;
  /** The auth method whose login made the token, and the method's namespace; empty for other tokens. */
  readonly AuthMethod: string;
  readonly AuthMethodNamespace: string;
  /** Unix milliseconds; 0 is never. */
  readonly ExpirationTime: number;
  /** Unix milliseconds. */
  readonly CreateTime: number;
  readonly Hash: string;
  readonly Namespace: string;
  readonly Partition: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** The fields that a caller may write. */
export const AclTokenInputSchema = Type.Object({
  AccessorID: Text(),
  SecretID: Text(),
  Description: Text({ maxLength: limits.names.descriptionLengthMax }),
  Policies: FullList(LinkSchema),
  Roles: FullList(LinkSchema),
  ...identityProperties,
  Local: Flag(),
  AuthMethod: Text(),
  /** RFC 3339. */
  ExpirationTime: Nullable(Type.String()),
  ExpirationTTL: Nanoseconds(),
  Namespace: Text(),
  Partition: Text(),
  AuthMethodNamespace: ResponseOnly(Text()),
  CreateTime: ResponseOnly(Text()),
  Hash: ResponseOnly(Text()),
  // The further fields of an expanded token, so that a token that was read can be sent back.
  ID: ResponseOnly(Text()),
  ExpandedPolicies: ResponseOnly(FullList(Type.Object({}))),
  ExpandedRoles: ResponseOnly(FullList(Type.Object({}))),
  NamespaceDefaultPolicies: ResponseOnly(FullList(LinkSchema)),
  NamespaceDefaultRoles: ResponseOnly(FullList(LinkSchema)),
  AgentACLDefaultPolicy: ResponseOnly(Text()),
  AgentACLDownPolicy: ResponseOnly(Text()),
  ResolvedByAgent: ResponseOnly(Text()),
  ...stamps,
});
export type AclTokenInput = Model<typeof AclTokenInputSchema>;

/** The shown fields of a token without its secret, for filters. */
export const AclTokenFilterSchema = Type.Object({
  AccessorID: Text(),
  Description: Text(),
  Policies: FullList(LinkSchema),
  Roles: FullList(LinkSchema),
  ...identityProperties,
  Local: Flag(),
  AuthMethod: Text(),
  AuthMethodNamespace: Text(),
  /** RFC 3339, or null when it never expires. */
  ExpirationTime: Nullable(Type.String()),
  CreateTime: Text(),
  Hash: Text(),
  Namespace: Text(),
  Partition: Text(),
  ...stamps,
});

export const AclTokenSchema = Type.Object({
  ...AclTokenFilterSchema.properties,
  /** `<hidden>` for callers who may read tokens but not write them. */
  SecretID: Text(),
});
export type PresentedAclToken = Model<typeof AclTokenSchema>;

/** The token of every request without a token. Its secret is public. */
export const anonymousAccessorId = '00000000-0000-0000-0000-000000000002';
export const anonymousSecret = 'anonymous';

/** The policy that grants everything; the first token has it. */
export const managementPolicyId = '00000000-0000-0000-0000-000000000001';
export const managementPolicyName = 'global-management';

export const hiddenSecretId = '<hidden>';

export const isManagement = (token: Pick<AclToken, 'Policies'>): boolean =>
  token.Policies.some((policy) => policy.ID === managementPolicyId);

/**
 * An expired token is refused even while its row still exists.
 * Source: docs/contract/access-control.md#when-a-token-expires.
 */
export const isExpired = (token: Pick<AclToken, 'ExpirationTime'>, nowMs: number): boolean =>
  token.ExpirationTime !== 0 && token.ExpirationTime <= nowMs;
