import { limits } from '../limits.ts';
import { defaultNamespace } from '../namespace/namespace.ts';
import { List, type Model, Nullable, ResponseOnly, stamps, Text, Type } from '../schema.ts';

/** The workloads that have a policy without a token that links it. */
export const JobAclSchema = Type.Object({
  Namespace: Text({ default: defaultNamespace }),
  JobID: Text(),
  /** Empty: every group of the job. */
  Group: Text(),
  /** Empty: every task of the group. */
  Task: Text(),
});
export type JobAcl = Model<typeof JobAclSchema>;

/** A named set of rules. Source: docs/contract/access-control.md#policies. */
export const AclPolicySchema = Type.Object({
  ID: Text(),
  Name: Text(),
  Description: Text({ maxLength: limits.names.descriptionLengthMax }),
  Rules: Text({ maxLength: limits.acl.rulesLengthMax }),
  /** The datacenters in which the policy holds; null: all. */
  Datacenters: List(Type.String()),
  /** The workloads that have the policy without a token; null: none. */
  JobACL: Nullable(JobAclSchema),
  Hash: ResponseOnly(Text()),
  Namespace: Text(),
  Partition: Text(),
  ...stamps,
});
export interface AclPolicy extends Model<typeof AclPolicySchema> {}

const { Rules: _, ...withoutRules } = AclPolicySchema.properties;
/** A policy in a list. */
export const AclPolicyStubSchema = Type.Object(withoutRules);

export const policyStub = ({ Rules: _rules, ...stub }: AclPolicy): Omit<AclPolicy, 'Rules'> => stub;
