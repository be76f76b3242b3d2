import type { AclPolicy } from '../model/acl-policy/acl-policy.ts';
import type { AclBootstrap } from '../model/acl-policy/bootstrap.ts';
import type { AclRole } from '../model/acl-role/acl-role.ts';
import { type AclToken, isManagement } from '../model/acl-token/acl-token.ts';
import type { Allocation } from '../model/allocation/allocation.ts';
import { isTerminal, occupiesNode } from '../model/allocation/allocation-rules.ts';
import type { AuthMethod } from '../model/auth-method/auth-method.ts';
import type { BindingRule } from '../model/binding-rule/binding-rule.ts';
import type { ConfigEntry, ConfigKindName } from '../model/config-entry/config-entry.ts';
import type { Deployment } from '../model/deployment/deployment.ts';
import { type Evaluation, isTerminalEvaluation } from '../model/evaluation/evaluation.ts';
import type { IntroductionToken } from '../model/introduction-token/introduction-token.ts';
import type { Job } from '../model/job/job.ts';
import { isPeriodic, runsEverywhere } from '../model/job/job-rules.ts';
import type { JobPolicy } from '../model/job-policy/job-policy.ts';
import type { JobSubmission } from '../model/job-submission/job-submission.ts';
import type { JobSummary } from '../model/job-summary/job-summary.ts';
import type { KeyringKey } from '../model/keyring/keyring-key.ts';
import {
  defaultNamespace,
  defaultPartition,
  type Namespace,
  type Scope,
} from '../model/namespace/namespace.ts';
import type { Node } from '../model/node/node.ts';
import type { NodePool } from '../model/node-pool/node-pool.ts';
import type { Partition } from '../model/partition/partition.ts';
import type { ImportedInstance, ImportedService } from '../model/peering/imported.ts';
import type { PeeringConnection, StoredPeering } from '../model/peering/peering.ts';
import type { ClusterIdentity, PeeringSecrets } from '../model/peering/secrets.ts';
import type { PeriodicLaunch } from '../model/periodic-launch/periodic-launch.ts';
import type { ScalingHistory } from '../model/scaling-event/scaling-event.ts';
import { placeInJob, type RegisteredPolicy } from '../model/scaling-policy/registered-policy.ts';
import type { StoredSchedulerConfiguration } from '../model/scheduler-configuration/scheduler-configuration.ts';
import type { ServiceRegistration } from '../model/service-registration/service-registration.ts';
import type { SealedItems, VariableMetadata } from '../model/variable/variable.ts';
import type { Key, Stamps, TableDefinition } from './types.ts';

/**
 * Every table there is. The key of a namespaced noun starts with its partition and namespace
 * (src/state/DESIGN.md#invariants); the scheduler's nouns live in the default partition.
 */
export const inNamespace = (namespace: string, ...rest: Key): Key => [
  defaultPartition,
  namespace,
  ...rest,
];

/** The key of a record outside the scheduler, which may live in any partition. */
export const inScope = ({ partition, namespace }: Scope, ...rest: Key): Key => [
  partition,
  namespace,
  ...rest,
];

/** Numbers as key parts keep their order. */
export const numberPart = (value: number): string => value.toString(16).padStart(14, '0');

/** Keeps the literal names of a definition's indexes. */
const table = <R extends Stamps, I extends string = never>(
  definition: TableDefinition<R, I>,
): TableDefinition<R, I> => definition;

export const jobs = table<
  Job,
  'everywhere' | 'periodic' | 'pool' | 'child' | 'dispatch' | 'modified'
>({
  name: 'jobs',
  version: 2,
  // The version of a job has the same ones, and a new status leaves them as they are.
  shared: ['TaskGroups'],
  // Nothing changed but how the field that is shared is written.
  upcast: (row) => row as Job,
  scopeParts: 2,
  key: (job) => inNamespace(job.Namespace, job.ID),
  indexes: {
    /** Those that want something on every node: what a new node is looked at for. */
    everywhere: { key: (job) => (runsEverywhere(job) ? ['everywhere'] : undefined) },
    periodic: { key: (job) => (isPeriodic(job) ? ['periodic'] : undefined) },
    pool: { key: (job) => [job.NodePool] },
    /** By what they were made of, those that are not over before the others. */
    child: {
      key: ({ Namespace, ParentID, Status }) =>
        ParentID === '' ? undefined : inNamespace(Namespace, ParentID, childPart(Status)),
    },
    /** By the token that prevents a second dispatch. */
    dispatch: {
      key: ({ Namespace, ParentID, DispatchIdempotencyToken: token }) =>
        ParentID === '' || token === '' ? undefined : inNamespace(Namespace, ParentID, token),
    },
    /** The one first that has not changed for the longest time. */
    modified: {
      scopeParts: 2,
      key: ({ Namespace, ModifyIndex }) => inNamespace(Namespace, numberPart(ModifyIndex)),
    },
  },
});

/** Where a child of that status stands in the index of children. */
export const childPart = (status: Job['Status']): 'active' | 'dead' =>
  status === 'dead' ? 'dead' : 'active';

/** The versions kept of each job, the current one included, each created when the job was. */
export const jobVersions = table<Job>({
  name: 'job-versions',
  version: 2,
  shared: ['TaskGroups'],
  upcast: (row) => row as Job,
  keepsCreateIndex: true,
  key: (job) => inNamespace(job.Namespace, job.ID, numberPart(job.Version)),
  indexes: {},
});

export const jobSummaries = table<JobSummary>({
  name: 'job-summaries',
  version: 1,
  scopeParts: 2,
  key: (summary) => inNamespace(summary.Namespace, summary.JobID),
  indexes: {},
});

export const jobSubmissions = table<JobSubmission>({
  name: 'job-submissions',
  version: 1,
  key: (submission) =>
    inNamespace(submission.Namespace, submission.JobID, numberPart(submission.Version)),
  indexes: {},
});

/** What was said about the scale of each group of a job. */
export const scalingEvents = table<ScalingHistory>({
  name: 'scaling-events',
  version: 1,
  key: ({ Namespace, JobID, TaskGroup }) => inNamespace(Namespace, JobID, TaskGroup),
  indexes: {},
});

/** What jobs say about how they are scaled: derived from them, with an index of their own. */
export const scalingPolicies = table<RegisteredPolicy, 'id'>({
  name: 'scaling-policies',
  version: 1,
  scopeParts: 2,
  key: (policy) => inNamespace(policy.Namespace, policy.Target.Job!, ...placeInJob(policy)),
  indexes: { id: { key: (policy) => [policy.ID] } },
});

/** What jobs have to be like. Their names are of the whole cluster. */
export const jobPolicies = table<JobPolicy, 'namespace'>({
  name: 'job-policies',
  version: 1,
  key: (policy) => [policy.Name],
  indexes: {
    /** By where they hold. */
    namespace: { key: (policy) => [policy.Namespace] },
  },
});

export const periodicLaunches = table<PeriodicLaunch>({
  name: 'periodic-launches',
  version: 1,
  key: ({ Namespace, JobID }) => inNamespace(Namespace, JobID),
  indexes: {},
});

export const evaluations = table<Evaluation, 'id' | 'job' | 'open' | 'created'>({
  name: 'evaluations',
  version: 1,
  scopeParts: 2,
  key: (evaluation) => inNamespace(evaluation.Namespace, evaluation.ID),
  indexes: {
    id: { key: (evaluation) => [evaluation.ID] },
    job: { key: (evaluation) => inNamespace(evaluation.Namespace, evaluation.JobID) },
    /** Those that are not over, by job: what a new leader takes up again. */
    open: {
      key: (evaluation) =>
        isTerminalEvaluation(evaluation)
          ? undefined
          : inNamespace(evaluation.Namespace, evaluation.JobID),
    },
    /** The oldest first: the order of their list. */
    created: {
      scopeParts: 2,
      key: ({ Namespace, CreateIndex }) => inNamespace(Namespace, numberPart(CreateIndex)),
    },
  },
});

export const allocations = table<
  Allocation,
  'id' | 'job' | 'node' | 'assignment' | 'occupant' | 'evaluation' | 'deployed' | 'created'
>({
  name: 'allocations',
  version: 2,
  shared: ['Metrics', 'AllocatedResources'],
  // Nothing changed but how the fields that are shared are written.
  upcast: (row) => row as Allocation,
  scopeParts: 2,
  key: (allocation) => inNamespace(allocation.Namespace, allocation.ID),
  indexes: {
    id: { key: (allocation) => [allocation.ID] },
    job: { key: (allocation) => inNamespace(allocation.Namespace, allocation.JobID) },
    node: { key: (allocation) => [allocation.NodeID] },
    /** As the node sees it: what the node itself reports does not call for its attention. */
    assignment: {
      sharesRows: true,
      scopeParts: 1,
      key: (allocation) => [allocation.NodeID],
      touch: (allocation) => allocation.AllocModifyIndex,
    },
    /** By node, without those that ended, so that a node's past costs the scheduler nothing. */
    occupant: {
      scopeParts: 1,
      key: (allocation) => (occupiesNode(allocation) ? [allocation.NodeID] : undefined),
    },
    evaluation: { key: (allocation) => [allocation.EvalID] },
    /** By deployment, those that are still wanted: what keeps a deployment that is over. */
    deployed: {
      key: (allocation) =>
        allocation.DeploymentID === '' || isTerminal(allocation)
          ? undefined
          : [allocation.DeploymentID],
    },
    /** The oldest first: the order of their list. */
    created: {
      scopeParts: 2,
      key: ({ Namespace, CreateIndex }) => inNamespace(Namespace, numberPart(CreateIndex)),
    },
  },
});

/** Instances of services, in the order of their names. They go with the allocation that runs them. */
export const serviceRegistrations = table<ServiceRegistration, 'job' | 'allocation' | 'node'>({
  name: 'service-registrations',
  version: 1,
  scopeParts: 2,
  key: ({ Namespace, ServiceName, ID }) => inNamespace(Namespace, ServiceName, ID),
  indexes: {
    job: { key: ({ Namespace, JobID }) => inNamespace(Namespace, JobID) },
    allocation: { key: ({ AllocID }) => [AllocID] },
    node: { key: ({ NodeID }) => [NodeID] },
  },
});

export const deployments = table<Deployment, 'id' | 'job' | 'created'>({
  name: 'deployments',
  version: 1,
  scopeParts: 2,
  key: (deployment) => inNamespace(deployment.Namespace, deployment.ID),
  indexes: {
    id: { key: (deployment) => [deployment.ID] },
    job: { key: (deployment) => inNamespace(deployment.Namespace, deployment.JobID) },
    /** The oldest first: the order of their list. */
    created: {
      scopeParts: 2,
      key: ({ Namespace, CreateIndex }) => inNamespace(Namespace, numberPart(CreateIndex)),
    },
  },
});

export const nodes = table<Node, 'secret' | 'pool' | 'name'>({
  name: 'nodes',
  version: 2,
  key: (node) => [node.ID],
  indexes: {
    secret: { key: (node) => [node.SecretHash] },
    pool: { key: (node) => [node.NodePool] },
    name: { key: (node) => [node.Name] },
  },
  upcast: (row) => {
    const node = row as Node;
    const NodeResources = { ...node.NodeResources, Devices: [] };
    return { ...node, NodeResources, DrainStrategy: null, LastDrain: null };
  },
});

/** What brings nodes in; only fingerprints of their secrets. */
export const introductionTokens = table<IntroductionToken, 'secret'>({
  name: 'introduction-tokens',
  version: 1,
  key: (token) => [token.ID],
  indexes: { secret: { key: (token) => [token.SecretHash] } },
});

export const nodePools = table<NodePool>({
  name: 'node-pools',
  version: 1,
  key: (pool) => [pool.Name],
  indexes: {},
});

/** One row, once somebody has set it. */
export const schedulerConfiguration = table<StoredSchedulerConfiguration>({
  name: 'scheduler-configuration',
  version: 1,
  key: () => ['configuration'],
  indexes: {},
});

export const partitions = table<Partition>({
  name: 'partitions',
  version: 1,
  key: (partition) => [partition.Name],
  indexes: {},
});

export const namespaces = table<Namespace>({
  name: 'namespaces',
  version: 2,
  key: (namespace) => [namespace.Partition, namespace.Name],
  indexes: {},
  upcast: (row) => ({ ...(row as Namespace), Partition: defaultPartition, ACLs: null }),
});

const placed = (row: { readonly Partition: string; readonly Namespace: string }): Key => [
  row.Partition,
  row.Namespace,
];

export const aclPolicies = table<AclPolicy, 'id' | 'name' | 'job'>({
  name: 'acl-policies',
  version: 2,
  key: (policy) => [...placed(policy), policy.ID],
  indexes: {
    id: { key: (policy) => [policy.ID] },
    name: { key: (policy) => [...placed(policy), policy.Name] },
    /** Those that workloads of a job have by themselves. */
    job: { key: ({ JobACL }) => (JobACL === null ? undefined : [JobACL.Namespace, JobACL.JobID]) },
  },
  upcast: (row) => ({ ...(row as AclPolicy), JobACL: null }),
});

export const aclRoles = table<AclRole, 'id' | 'name'>({
  name: 'acl-roles',
  version: 1,
  key: (role) => [...placed(role), role.ID],
  indexes: {
    id: { key: (role) => [role.ID] },
    name: { key: (role) => [...placed(role), role.Name] },
  },
});

export const aclTokens = table<
  AclToken,
  'accessor' | 'secret' | 'management' | 'expiration' | 'method'
>({
  name: 'acl-tokens',
  version: 2,
  scopeParts: 2,
  key: (token) => [...placed(token), token.AccessorID],
  indexes: {
    accessor: { key: (token) => [token.AccessorID] },
    /** Secrets are found by their fingerprint, so that no lookup compares them bit by bit. */
    secret: { key: (token) => [token.SecretHash] },
    management: { key: (token) => (isManagement(token) ? ['management'] : undefined) },
    /** Those that expire, the next one first. */
    expiration: {
      key: ({ ExpirationTime }) =>
        ExpirationTime === 0 ? undefined : [numberPart(ExpirationTime)],
    },
    /** Those of logins, by the auth method that made them. */
    method: {
      key: ({ Partition, AuthMethodNamespace, AuthMethod }) =>
        AuthMethod === '' ? undefined : [Partition, AuthMethodNamespace, AuthMethod],
    },
  },
  // Only the root token and the anonymous one were ever kept in that form, and no secret but as a
  // hash: `server/acl/seed.ts` makes both anew.
  upcast: (row) => {
    const { AccessorID, SecretHash, Description, CreateIndex, ModifyIndex } = row as AclToken;
    return {
      ...{ AccessorID, SecretHash, Description, CreateIndex, ModifyIndex, SecretSealed: '' },
      ...{ Policies: [], Roles: [], TemplatedPolicies: [], ServiceIdentities: [] },
      ...{ NodeIdentities: [], Local: false, AuthMethod: '', AuthMethodNamespace: '' },
      ...{ ExpirationTime: 0, CreateTime: 0, Hash: '' },
      ...{ Namespace: defaultNamespace, Partition: defaultPartition },
    };
  },
});

export const authMethods = table<AuthMethod>({
  name: 'auth-methods',
  version: 1,
  key: (method) => [...placed(method), method.Name],
  indexes: {},
});

export const bindingRules = table<BindingRule, 'method'>({
  name: 'binding-rules',
  version: 1,
  key: (rule) => [...placed(rule), rule.ID],
  indexes: { method: { key: (rule) => [...placed(rule), rule.AuthMethod] } },
});

export const keyringKeys = table<KeyringKey>({
  name: 'keyring-keys',
  version: 1,
  key: (key) => [key.KeyID],
  indexes: {},
});

/** What may be known of variables by whoever may list them. */
export const variables = table<VariableMetadata>({
  name: 'variables',
  version: 1,
  scopeParts: 2,
  key: ({ Namespace, Path }) => inNamespace(Namespace, Path),
  indexes: {},
});

/** What is in them, sealed: a row for each. */
export const variableItems = table<SealedItems>({
  name: 'variable-items',
  version: 1,
  key: ({ Namespace, Path }) => inNamespace(Namespace, Path),
  indexes: {},
});

/** Configuration entries of all kinds, without their secrets. */
export const configEntries = table<ConfigEntry>({
  name: 'config-entries',
  version: 1,
  scopeParts: 3,
  key: (entry) => [...placed(entry), entry.Kind, entry.Name],
  indexes: {},
});

/** The secret of an entry, sealed: a row beside it, so that sealing it anew is no change of the entry. */
export interface ConfigSecret extends Stamps {
  readonly Partition: string;
  readonly Namespace: string;
  readonly Kind: ConfigKindName;
  readonly Name: string;
  readonly Sealed: string;
}

export const configSecrets = table<ConfigSecret>({
  name: 'config-secrets',
  version: 1,
  key: (secret) => [...placed(secret), secret.Kind, secret.Name],
  indexes: {},
});

/** Which entry refers to a service, or names another entry: a row for each, kept with the entry. */
export interface ConfigReference extends Stamps {
  /** Of the service, or of the entry of that kind. */
  readonly Partition: string;
  readonly Namespace: string;
  readonly Kind: ConfigKindName | 'service';
  readonly Name: string;
  readonly From: {
    readonly Partition: string;
    readonly Namespace: string;
    readonly Kind: ConfigKindName;
    readonly Name: string;
  };
}

export const configReferences = table<ConfigReference>({
  name: 'config-references',
  version: 1,
  key: (reference) => {
    const { From } = reference;
    const { Kind, Name } = reference;
    return [...placed(reference), Kind, Name, ...placed(From), From.Kind, From.Name];
  },
  indexes: {},
});

/** Clusters that peer with this one. */
export const peerings = table<StoredPeering, 'id'>({
  name: 'peerings',
  version: 1,
  scopeParts: 1,
  key: ({ Partition, Name }) => [Partition, Name],
  indexes: { id: { key: ({ ID }) => [ID] } },
});

/** Whether the streams of peerings are open, by the ids of the peerings. */
export const peeringConnections = table<PeeringConnection>({
  name: 'peering-connections',
  version: 1,
  key: ({ ID }) => [ID],
  indexes: {},
});

/** Peerings that are deleted here, by their ids, whose peers have not heard of it yet. */
export const peeringFarewells = table<StoredPeering>({
  name: 'peering-farewells',
  version: 1,
  key: ({ ID }) => [ID],
  indexes: {},
});

/** What the sides of a peering show each other who they are by, by the id of the peering. */
export const peeringSecrets = table<PeeringSecrets>({
  name: 'peering-secrets',
  version: 1,
  key: ({ ID }) => [ID],
  indexes: {},
});

/** One row: what names this cluster. */
export const clusterIdentity = table<ClusterIdentity>({
  name: 'cluster-identity',
  version: 1,
  key: () => ['cluster'],
  indexes: {},
});

/** Services that peers export to this cluster, and their instances: they go with their peering. */
export const importedServices = table<ImportedService>({
  name: 'imported-services',
  version: 1,
  scopeParts: 2,
  key: ({ Partition, Peer, Namespace, Name }) => [Partition, Peer, Namespace, Name],
  indexes: {},
});

export const importedInstances = table<ImportedInstance>({
  name: 'imported-instances',
  version: 1,
  scopeParts: 2,
  key: ({ Partition, Peer, Namespace, ServiceName, ID }) => [
    ...[Partition, Peer, Namespace, ServiceName, ID],
  ],
  indexes: {},
});

/** One row: whether the first token was made. */
export const aclBootstrap = table<AclBootstrap>({
  name: 'acl-bootstrap',
  version: 1,
  key: () => ['bootstrap'],
  indexes: {},
});

/** For opening the state. */
export const allTables: readonly TableDefinition[] = [
  jobs,
  jobVersions,
  jobSummaries,
  jobSubmissions,
  scalingEvents,
  scalingPolicies,
  jobPolicies,
  periodicLaunches,
  evaluations,
  allocations,
  serviceRegistrations,
  deployments,
  nodes,
  introductionTokens,
  nodePools,
  schedulerConfiguration,
  partitions,
  namespaces,
  aclPolicies,
  aclRoles,
  aclTokens,
  aclBootstrap,
  authMethods,
  bindingRules,
  keyringKeys,
  variables,
  variableItems,
  configEntries,
  configSecrets,
  configReferences,
  peerings,
  peeringConnections,
  peeringFarewells,
  peeringSecrets,
  clusterIdentity,
  importedServices,
  importedInstances,
] as unknown as readonly TableDefinition[];
