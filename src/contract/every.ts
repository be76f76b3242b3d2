import type { aclDecisionEndpoints } from './acl-decision.ts';
import type { aclPolicyEndpoints } from './acl-policy.ts';
import type { aclReplicationEndpoints } from './acl-replication.ts';
import type { aclRoleEndpoints } from './acl-role.ts';
import type { aclBootstrapEndpoints, aclTokenEndpoints } from './acl-token.ts';
import type { agentEndpoints } from './agent.ts';
import type { agentReloadEndpoints } from './agent-reload.ts';
import type { allocationEndpoints } from './allocation.ts';
import type { attentionEndpoints } from './attention.ts';
import type { authMethodEndpoints } from './auth-method.ts';
import type { bindingRuleEndpoints } from './binding-rule.ts';
import type { clientEndpoints } from './client.ts';
import type { clientCheckEndpoints } from './client-checks.ts';
import type { clientFileEndpoints } from './client-files.ts';
import type { clientLifecycleEndpoints } from './client-lifecycle.ts';
import type { clientStatisticsEndpoints } from './client-statistics.ts';
import type { configEntryEndpoints } from './config-entry.ts';
import type { deploymentEndpoints } from './deployment.ts';
import type { diagnosisEndpoints } from './diagnosis.ts';
import type { discoveryChainEndpoints } from './discovery-chain.ts';
import type { evaluationEndpoints } from './evaluation.ts';
import type { eventEndpoints } from './event.ts';
import type { execEndpoints } from './exec.ts';
import type { explanationEndpoints } from './explanation.ts';
import type { intentionEndpoints } from './intention.ts';
import type { introductionTokenEndpoints } from './introduction-token.ts';
import type { jobEndpoints } from './job.ts';
import type { jobFileEndpoints } from './job-file.ts';
import type { jobLaunchEndpoints } from './job-launch.ts';
import type { jobPlanEndpoints } from './job-plan.ts';
import type { jobPolicyEndpoints } from './job-policy.ts';
import type { jobScaleEndpoints } from './job-scale.ts';
import type { jobStatusesEndpoints } from './job-statuses.ts';
import type { jobVersionEndpoints, jobVersionsEndpoints } from './job-version.ts';
import type { keyringEndpoints } from './keyring.ts';
import type { leaderEndpoints } from './leader.ts';
import type { loginEndpoints } from './login.ts';
import type { namespaceEndpoints, partitionEndpoints } from './namespace.ts';
import type { nodeEndpoints } from './node.ts';
import type { nodeAgentEndpoints } from './node-agent.ts';
import type { nodePoolEndpoints } from './node-pool.ts';
import type { exchangedServiceEndpoints, peeringEndpoints } from './peering.ts';
import type { planEndpoints } from './plan.ts';
import type { scalingPolicyEndpoints } from './scaling-policy.ts';
import type { schedulerEndpoints } from './scheduler-configuration.ts';
import type { searchEndpoints } from './search.ts';
import type { serverHealthEndpoints } from './server-health.ts';
import type { serviceEndpoints } from './service.ts';
import type { signInLinkEndpoints } from './sign-in-link.ts';
import type { snapshotEndpoints } from './snapshot.ts';
import type { systemEndpoints } from './system.ts';
import type { templatedPolicyEndpoints } from './templated-policy.ts';
import type { uiSettingsEndpoints } from './ui-settings.ts';
import type { uiStreamEndpoints } from './ui-stream.ts';
import type { upgradeEndpoints } from './upgrade.ts';
import type { variableEndpoints } from './variable.ts';
import type { workloadIdentityEndpoints } from './workload-identity.ts';

/** The endpoints of all nouns. Types only, so that no schema gets into the client. */
export type EveryNoun =
  | typeof aclDecisionEndpoints
  | typeof aclPolicyEndpoints
  | typeof aclReplicationEndpoints
  | typeof aclRoleEndpoints
  | typeof aclBootstrapEndpoints
  | typeof aclTokenEndpoints
  | typeof agentEndpoints
  | typeof agentReloadEndpoints
  | typeof allocationEndpoints
  | typeof attentionEndpoints
  | typeof authMethodEndpoints
  | typeof bindingRuleEndpoints
  | typeof clientCheckEndpoints
  | typeof clientFileEndpoints
  | typeof clientLifecycleEndpoints
  | typeof clientStatisticsEndpoints
  | typeof clientEndpoints
  | typeof configEntryEndpoints
  | typeof deploymentEndpoints
  | typeof diagnosisEndpoints
  | typeof discoveryChainEndpoints
  | typeof evaluationEndpoints
  | typeof eventEndpoints
  | typeof execEndpoints
  | typeof explanationEndpoints
  | typeof intentionEndpoints
  | typeof introductionTokenEndpoints
  | typeof jobFileEndpoints
  | typeof jobLaunchEndpoints
  | typeof jobPlanEndpoints
  | typeof jobPolicyEndpoints
  | typeof jobScaleEndpoints
  | typeof jobStatusesEndpoints
  | typeof jobVersionEndpoints
  | typeof jobVersionsEndpoints
  | typeof jobEndpoints
  | typeof keyringEndpoints
  | typeof loginEndpoints
  | typeof namespaceEndpoints
  | typeof partitionEndpoints
  | typeof nodeAgentEndpoints
  | typeof nodePoolEndpoints
  | typeof nodeEndpoints
  | typeof exchangedServiceEndpoints
  | typeof peeringEndpoints
  | typeof planEndpoints
  | typeof scalingPolicyEndpoints
  | typeof schedulerEndpoints
  | typeof searchEndpoints
  | typeof serverHealthEndpoints
  | typeof serviceEndpoints
  | typeof signInLinkEndpoints
  | typeof snapshotEndpoints
  | typeof leaderEndpoints
  | typeof systemEndpoints
  | typeof templatedPolicyEndpoints
  | typeof uiSettingsEndpoints
  | typeof uiStreamEndpoints
  | typeof upgradeEndpoints
  | typeof variableEndpoints
  | typeof workloadIdentityEndpoints;
