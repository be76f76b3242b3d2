import { limits } from '../limits.ts';
import { List, type Model, ResponseOnly, stamps, Text, Type } from '../schema.ts';

/** A named set of rules. Source: spec/1 §2.2 (ExpandedPolicies), facts/registry.md §2.3. */
export const AclPolicySchema = Type.Object({
  ID: Text(),
  Name: Text(),
  Description: Text({ maxLength: limits.names.descriptionLengthMax }),
  Rules: Text({ maxLength: limits.acl.rulesLengthMax }),
  /** Where it holds; null: everywhere. */
  Datacenters: List(Type.String()),
  Hash: ResponseOnly(Text()),
  Namespace: Text(),
  Partition: Text(),
  ...stamps,
});
export type AclPolicy = Model<typeof AclPolicySchema>;

const { Rules: _, ...withoutRules } = AclPolicySchema.properties;
/** A policy in a list. */
export const AclPolicyStubSchema = Type.Object(withoutRules);

export const policyStub = ({ Rules: _rules, ...stub }: AclPolicy): Omit<AclPolicy, 'Rules'> => stub;
