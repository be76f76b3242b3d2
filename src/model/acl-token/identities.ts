import { limits } from '../limits.ts';
import { FullList, FullMapOf, type Model, Text, Type } from '../schema.ts';

/**
 * The links that tokens and roles have besides their policies.
 * Source: docs/contract/access-control.md#tokens.
 */
export const ServiceIdentitySchema = Type.Object({
  ServiceName: Text(),
  /** Empty: every datacenter. */
  Datacenters: FullList(Type.String()),
});
export type ServiceIdentity = Model<typeof ServiceIdentitySchema>;

export const NodeIdentitySchema = Type.Object({ NodeName: Text(), Datacenter: Text() });
export type NodeIdentity = Model<typeof NodeIdentitySchema>;

export const TemplatedPolicyLinkSchema = Type.Object({
  /** Set by the server; a caller names the template. */
  TemplateID: Text(),
  TemplateName: Text(),
  TemplateVariables: FullMapOf(Type.String()),
  Datacenters: FullList(Type.String()),
});
export type TemplatedPolicyLink = Model<typeof TemplatedPolicyLinkSchema>;

/** A policy or role as a token or role stores it: by id, so that renaming changes nothing. */
export interface StoredLink {
  readonly ID: string;
}

export interface Identities {
  readonly ServiceIdentities: readonly ServiceIdentity[];
  readonly NodeIdentities: readonly NodeIdentity[];
  readonly TemplatedPolicies: readonly TemplatedPolicyLink[];
}

/** The properties that a token's and a role's schema have in common. */
export const identityProperties = {
  TemplatedPolicies: FullList(TemplatedPolicyLinkSchema),
  ServiceIdentities: FullList(ServiceIdentitySchema),
  NodeIdentities: FullList(NodeIdentitySchema),
};

const identityName = /^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$/;

/** Source: docs/contract/access-control.md#names-of-identities. */
export const isIdentityName = (name: string): boolean =>
  name.length <= limits.names.lengthMax && identityName.test(name);

export const isDatacenterName = (name: string): boolean =>
  name.length <= limits.names.lengthMax && /^[A-Za-z0-9_-]+$/.test(name);
