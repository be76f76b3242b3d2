/**
 * Every bound that a caller or an operator meets, as `GET /v1/agent/self` shows them. The bounds of a noun
 * are in its folder, the others in `limits/`. Whole words, units last. A bound that an operator may change is
 * the default of a setting of the same name.
 */
import { aclLimits } from './acl-token/limits.ts';
import { allocationLimits, filesLimits } from './allocation/limits.ts';
import { attentionLimits } from './attention/limits.ts';
import { authMethodLimits } from './auth-method/limits.ts';
import { bindingRuleLimits } from './binding-rule/limits.ts';
import { configLimits } from './config-entry/limits.ts';
import { denialLimits } from './denial/limits.ts';
import { deploymentLimits } from './deployment/limits.ts';
import { discoveryChainLimits } from './discovery-chain/limits.ts';
import { evaluationLimits } from './evaluation/limits.ts';
import { eventsLimits } from './event/limits.ts';
import { execLimits } from './exec-session/limits.ts';
import { explanationLimits } from './explanation/limits.ts';
import { introductionLimits } from './introduction-token/limits.ts';
import { dispatchLimits, jobFileLimits, jobLimits, periodicLimits } from './job/limits.ts';
import { jobPolicyLimits } from './job-policy/limits.ts';
import { idempotencyLimits } from './kept-answer/limits.ts';
import { keyringLimits } from './keyring/limits.ts';
import { artifactLimits, diskLimits } from './limits/artifact.ts';
import { dockerLimits } from './limits/docker.ts';
import { garbageLimits } from './limits/garbage.ts';
import { auditLimits, faultLimits, httpLimits, listLimits, watchLimits } from './limits/http.ts';
import {
  aclLoginLimits,
  oidcSessionLimits,
  outboundLimits,
  signInLinkLimits,
} from './limits/login.ts';
import { metricsLimits } from './limits/metrics.ts';
import { namesLimits } from './limits/names.ts';
import { schedulerLimits } from './limits/scheduler.ts';
import { serversLimits } from './limits/servers.ts';
import { sharedLogLimits, stateLimits } from './limits/state.ts';
import { supervisorLimits } from './limits/supervisor.ts';
import { templateLimits } from './limits/template.ts';
import { uiLimits } from './limits/ui.ts';
import { upgradeLimits } from './limits/upgrade.ts';
import { monitorLimits, profileLimits } from './monitor/limits.ts';
import { networkLimits } from './network/limits.ts';
import { nodeLimits, statisticsLimits } from './node/limits.ts';
import { nodePoolLimits } from './node-pool/limits.ts';
import { streamLimits } from './node-stream/limits.ts';
import { peeringLimits } from './peering/limits.ts';
import { planLimits } from './plan/limits.ts';
import { scalingLimits } from './scaling-event/limits.ts';
import { searchLimits } from './search/limits.ts';
import { checkLimits, serviceLimits } from './service/limits.ts';
import { snapshotLimits } from './snapshot/limits.ts';
import { restartLimits, taskLimits } from './task/limits.ts';
import { uiStreamLimits } from './ui-stream/limits.ts';
import { variableLimits } from './variable/limits.ts';
import { identityLimits } from './workload/limits.ts';

export const limits = {
  http: httpLimits,
  ui: uiLimits,
  watch: watchLimits,
  garbage: garbageLimits,
  config: configLimits,
  discoveryChain: discoveryChainLimits,
  monitor: monitorLimits,
  profile: profileLimits,
  peering: peeringLimits,
  list: listLimits,
  search: searchLimits,
  attention: attentionLimits,
  fault: faultLimits,
  explanation: explanationLimits,
  names: namesLimits,
  job: jobLimits,
  scaling: scalingLimits,
  jobPolicy: jobPolicyLimits,
  plan: planLimits,
  dispatch: dispatchLimits,
  periodic: periodicLimits,
  jobFile: jobFileLimits,
  task: taskLimits,
  template: templateLimits,
  allocation: allocationLimits,
  service: serviceLimits,
  check: checkLimits,
  network: networkLimits,
  docker: dockerLimits,
  node: nodeLimits,
  introduction: introductionLimits,
  nodePool: nodePoolLimits,
  evaluation: evaluationLimits,
  deployment: deploymentLimits,
  scheduler: schedulerLimits,
  artifact: artifactLimits,
  disk: diskLimits,
  events: eventsLimits,
  stream: streamLimits,
  files: filesLimits,
  statistics: statisticsLimits,
  exec: execLimits,
  uiStream: uiStreamLimits,
  supervisor: supervisorLimits,
  restart: restartLimits,
  state: stateLimits,
  sharedLog: sharedLogLimits,
  servers: serversLimits,
  upgrade: upgradeLimits,
  acl: aclLimits,
  denial: denialLimits,
  authMethod: authMethodLimits,
  bindingRule: bindingRuleLimits,
  aclLogin: aclLoginLimits,
  outbound: outboundLimits,
  oidcSession: oidcSessionLimits,
  signInLink: signInLinkLimits,
  audit: auditLimits,
  metrics: metricsLimits,
  variable: variableLimits,
  identity: identityLimits,
  keyring: keyringLimits,
  idempotency: idempotencyLimits,
  snapshot: snapshotLimits,
} as const;
