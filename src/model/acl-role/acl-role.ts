import { type Identities, identityProperties, type StoredLink } from '../acl-token/identities.ts';
import { limits } from '../limits.ts';
import { LinkSchema } from '../namespace/namespace.ts';
import { FullList, type Model, ResponseOnly, stamps, Text, Type } from '../schema.ts';

/** A role as it is stored: it links its policies by id. Source: docs/contract/access-control.md#roles. */
export interface AclRole extends Identities {
  readonly ID: string;
  readonly Name: string;
  readonly Description: string;
  readonly Policies: readonly StoredLink[];
  readonly Hash: string;
  readonly Namespace: string;
  readonly Partition: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** A role as it is written and shown. */
export const AclRoleSchema = Type.Object({
  ID: Text(),
  Name: Text(),
  Description: Text({ maxLength: limits.names.descriptionLengthMax }),
  Policies: FullList(LinkSchema),
  ...identityProperties,
  Hash: ResponseOnly(Text()),
  Namespace: Text(),
  Partition: Text(),
  ...stamps,
});
export type PresentedAclRole = Model<typeof AclRoleSchema>;

const listed = AclRoleSchema.properties;
/** A role in a list. */
export const ListedAclRoleSchema = Type.Object({
  ...listed,
  TemplatedPolicies: Type.Optional(listed.TemplatedPolicies),
  ServiceIdentities: Type.Optional(listed.ServiceIdentities),
  NodeIdentities: Type.Optional(listed.NodeIdentities),
});
export type ListedAclRole = Model<typeof ListedAclRoleSchema>;
