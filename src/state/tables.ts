import {
  aclBootstrap,
  aclPolicies,
  aclRoles,
  aclTokens,
  authMethods,
  bindingRules,
  keptAnswers,
  keyringKeys,
  namespaces,
  oidcSessions,
  partitions,
  usedUpLimits,
  variableItems,
  variables,
} from './tables/access.ts';
import { clusterVersions, packedBatches } from './tables/cluster.ts';
import { configEntries, configReferences, configSecrets } from './tables/config-entries.ts';
import {
  jobPolicies,
  jobSubmissions,
  jobSummaries,
  jobs,
  jobVersions,
  keptPlans,
  periodicLaunches,
  scalingEvents,
  scalingPolicies,
} from './tables/jobs.ts';
import {
  clusterIdentity,
  importedInstances,
  importedServices,
  peeringConnections,
  peeringFarewells,
  peeringSecrets,
  peerings,
} from './tables/peering.ts';
import {
  allocations,
  deployments,
  evaluations,
  introductionTokens,
  nodePools,
  nodes,
  schedulerConfiguration,
  serviceRegistrations,
} from './tables/scheduling.ts';
import type { TableDefinition } from './types.ts';

export * from './tables/access.ts';
export * from './tables/cluster.ts';
export * from './tables/config-entries.ts';
export { inNamespace, inScope, numberPart } from './tables/definition.ts';
export * from './tables/jobs.ts';
export * from './tables/peering.ts';
export * from './tables/scheduling.ts';

/** All tables, in the order in which snapshots have them. */
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
  keptAnswers,
  keptPlans,
  oidcSessions,
  usedUpLimits,
  clusterVersions,
  packedBatches,
] as unknown as readonly TableDefinition[];
