/** The form of the stored rows of every table: the fields with their types, bounds and choices. */
import { AclPolicySchema } from '../../model/acl-policy/acl-policy.ts';
import { AclRoleSchema } from '../../model/acl-role/acl-role.ts';
import { identityProperties } from '../../model/acl-token/identities.ts';
import { AllocationSchema } from '../../model/allocation/allocation.ts';
import { AuthMethodSchema } from '../../model/auth-method/auth-method.ts';
import { BindingRuleSchema } from '../../model/binding-rule/binding-rule.ts';
import { configKinds } from '../../model/config-entry/config-entry.ts';
import { findKind } from '../../model/config-entry/kinds.ts';
import { DeploymentSchema } from '../../model/deployment/deployment.ts';
import { EvaluationSchema } from '../../model/evaluation/evaluation.ts';
import { IntroductionTokenSchema } from '../../model/introduction-token/introduction-token.ts';
import { JobSchema } from '../../model/job/job.ts';
import { JobPolicySchema } from '../../model/job-policy/job-policy.ts';
import { JobSubmissionSchema } from '../../model/job-submission/job-submission.ts';
import { JobSummarySchema } from '../../model/job-summary/job-summary.ts';
import { planKinds } from '../../model/kept-plan/kept-plan.ts';
import { KeyringKeySchema, keyPurposes } from '../../model/keyring/keyring-key.ts';
import { limits } from '../../model/limits.ts';
import { loginLimitKinds } from '../../model/login/login.ts';
import { NamespaceSchema } from '../../model/namespace/namespace.ts';
import { NodeSchema } from '../../model/node/node.ts';
import { NodePoolSchema } from '../../model/node-pool/node-pool.ts';
import { PartitionSchema } from '../../model/partition/partition.ts';
import { ImportedInstanceSchema, ImportedServiceSchema } from '../../model/peering/imported.ts';
import { StoredPeeringSchema } from '../../model/peering/peering.ts';
import { PeriodicLaunchSchema } from '../../model/periodic-launch/periodic-launch.ts';
import { ScalingHistorySchema } from '../../model/scaling-event/scaling-event.ts';
import { RegisteredPolicySchema } from '../../model/scaling-policy/registered-policy.ts';
import { SchedulerConfigurationSchema } from '../../model/scheduler-configuration/scheduler-configuration.ts';
import {
  Choice,
  Flag,
  FullList,
  FullMapOf,
  Instant,
  stamps,
  Text,
  Type,
  Whole,
} from '../../model/schema.ts';
import { ServiceRegistrationSchema } from '../../model/service-registration/service-registration.ts';
import { RestoreRecordSchema } from '../../model/snapshot/restore-record.ts';
import { VariableMetadataSchema } from '../../model/variable/variable.ts';
import * as tables from '../tables.ts';
import type { Stamps, TableDefinition } from '../types.ts';

/** The form of a row; `undefined`: the row is of no kind that this program knows. */
export type FormOf = (row: object) => Type.TSchema | undefined;

type Fields<R> = { readonly [F in keyof R]-?: Type.TSchema };
type Named<R extends Stamps> = Pick<TableDefinition<R, never>, 'name'> & {
  readonly key: (row: R) => unknown;
};

/** The compiler holds the names of the fields against the type of the rows. */
function form<R extends Stamps>(
  { name }: Named<R>,
  fields: Fields<Omit<R, keyof Stamps>>,
): readonly [string, FormOf] {
  const schema = Type.Object({ ...(fields as Record<string, Type.TSchema>), ...stamps });
  return [name, () => schema];
}

/** Unix milliseconds. */
const Milliseconds = () => Whole({ minimum: 0 });
const Name = () => Text({ maxLength: limits.names.lengthMax });
const place = { Partition: Name(), Namespace: Name() };
const StoredLinks = () => FullList(Type.Object({ ID: Text() }));
const EntryKind = () => Choice(configKinds, 'mesh');

const ofAccess = [
  form(tables.partitions, PartitionSchema.properties),
  form(tables.namespaces, NamespaceSchema.properties),
  form(tables.aclPolicies, AclPolicySchema.properties),
  form(tables.aclRoles, AclRoleSchema.properties),
  form(tables.aclTokens, {
    ...place,
    ...identityProperties,
    AccessorID: Text(),
    SecretSealed: Text(),
    SecretHash: Text(),
    Description: Text({ maxLength: limits.names.descriptionLengthMax }),
    Policies: StoredLinks(),
    Roles: StoredLinks(),
    Local: Flag(),
    AuthMethod: Name(),
    AuthMethodNamespace: Name(),
    ExpirationTime: Milliseconds(),
    CreateTime: Milliseconds(),
    Hash: Text(),
  }),
  form(tables.aclBootstrap, { AccessorID: Text() }),
  form(tables.authMethods, AuthMethodSchema.properties),
  form(tables.bindingRules, BindingRuleSchema.properties),
  form(tables.keyringKeys, {
    ...KeyringKeySchema.properties,
    Wrapped: Text(),
    Purpose: Choice(keyPurposes, 'sealing'),
    PublicKey: Type.Optional(Text()),
  }),
  form(tables.variables, VariableMetadataSchema.properties),
  form(tables.variableItems, { Namespace: Name(), Path: Text(), Sealed: Text() }),
  form(tables.oidcSessions, { ID: Text(), Sealed: Text(), ExpireMs: Milliseconds() }),
  form(tables.usedUpLimits, {
    Kind: Choice(loginLimitKinds, 'address'),
    Name: Text(),
    AtMs: Milliseconds(),
    ExpireMs: Milliseconds(),
  }),
  form(tables.keptAnswers, {
    Accessor: Text(),
    Route: Text(),
    Key: Text({ maxLength: limits.idempotency.keyLengthMax }),
    Fingerprint: Text(),
    Status: Whole({ minimum: 0 }),
    Headers: FullMapOf(Type.String()),
    Sealed: Text(),
    ExpireMs: Milliseconds(),
  }),
];

const ofJobs = [
  form(tables.jobs, JobSchema.properties),
  form(tables.jobVersions, JobSchema.properties),
  form(tables.jobSummaries, JobSummarySchema.properties),
  form(tables.jobSubmissions, JobSubmissionSchema.properties),
  form(tables.scalingEvents, ScalingHistorySchema.properties),
  form(tables.scalingPolicies, RegisteredPolicySchema.properties),
  form(tables.jobPolicies, JobPolicySchema.properties),
  form(tables.periodicLaunches, PeriodicLaunchSchema.properties),
  form(tables.keptPlans, {
    ...place,
    ID: Text(),
    Kind: Choice(planKinds, 'job'),
    JobID: Text(),
    Subject: Text(),
    Name: Text(),
    MadeBy: Text(),
    Sealed: Text(),
    Packed: Flag(),
    CarriedOutBy: Text(),
    CarriedOutIndex: Whole({ minimum: 0 }),
    OutdatedIndex: Whole({ minimum: 0 }),
    ExpireMs: Milliseconds(),
  }),
];

const ofScheduling = [
  form(tables.evaluations, EvaluationSchema.properties),
  form(tables.allocations, AllocationSchema.properties),
  form(tables.serviceRegistrations, ServiceRegistrationSchema.properties),
  form(tables.deployments, DeploymentSchema.properties),
  form(tables.nodes, NodeSchema.properties),
  form(tables.introductionTokens, IntroductionTokenSchema.properties),
  form(tables.nodePools, NodePoolSchema.properties),
  form(tables.schedulerConfiguration, SchedulerConfigurationSchema.properties),
];

const ofConfigEntries = [
  [tables.configEntries.name, (row) => findKind((row as { Kind: string }).Kind)?.schema],
  form(tables.configSecrets, { ...place, Kind: EntryKind(), Name: Name(), Sealed: Text() }),
  form(tables.configReferences, {
    ...place,
    Kind: Choice([...configKinds, 'service'], 'service'),
    Name: Name(),
    From: Type.Object({ ...place, Kind: EntryKind(), Name: Name() }),
  }),
] satisfies readonly (readonly [string, FormOf])[];

const ofClusters = [
  form(tables.peerings, StoredPeeringSchema.properties),
  form(tables.peeringFarewells, StoredPeeringSchema.properties),
  form(tables.peeringConnections, {
    ID: Text(),
    Partition: Name(),
    Name: Name(),
    IsOpen: Flag(),
  }),
  form(tables.peeringSecrets, {
    ID: Text(),
    Establishment: Text(),
    Exchanged: Text(),
    Active: Text(),
    Pending: Text(),
  }),
  form(tables.clusterIdentity, { ID: Text(), Restore: Type.Optional(RestoreRecordSchema) }),
  form(tables.importedServices, ImportedServiceSchema.properties),
  form(tables.importedInstances, ImportedInstanceSchema.properties),
  form(tables.clusterVersions, {
    ID: Choice(['version'], 'version'),
    Tables: FullMapOf(Whole({ minimum: 0 })),
    Hold: Flag(),
    RaisedAt: Instant(),
    Servers: FullList(
      Type.Object({
        ID: Text(),
        Address: Text(),
        Version: Text(),
        SeenAt: Instant(),
        Tables: FullMapOf(Whole({ minimum: 0 })),
      }),
    ),
  }),
  form(tables.packedBatches, {}),
];

/** By table. */
export const storedForms: ReadonlyMap<string, FormOf> = new Map([
  ...ofAccess,
  ...ofJobs,
  ...ofScheduling,
  ...ofConfigEntries,
  ...ofClusters,
]);
