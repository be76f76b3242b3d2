import {
  Flag,
  FullList,
  Hidden,
  Instant,
  type Model,
  ResponseOnly,
  stamps,
  Text,
  Type,
} from '../schema.ts';

/** A token. Of its secret only a hash is kept. Source: DESIGN §5 "Token", "Anonymous", "First token". */
export const AclTokenSchema = Type.Object({
  AccessorID: Text(),
  SecretHash: Hidden(ResponseOnly(Text())),
  Description: Text(),
  Policies: FullList(Type.Object({ ID: Text(), Name: Text() })),
  Local: Flag(),
  CreateTime: ResponseOnly(Instant()),
  ...stamps,
});
export type AclToken = Model<typeof AclTokenSchema>;

/** Stands for whoever shows no token. Its secret is no secret. */
export const anonymousAccessorId = '00000000-0000-0000-0000-000000000002';

/** The policy that may do everything; the first token has it. */
export const managementPolicyId = '00000000-0000-0000-0000-000000000001';
export const managementPolicyName = 'global-management';

export const isManagement = (token: Pick<AclToken, 'Policies'>): boolean =>
  token.Policies.some((policy) => policy.ID === managementPolicyId);
