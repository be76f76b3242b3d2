import type { ResolveOptions, Resolver } from '../acl/resolve.ts';
import type { Server } from '../server/server.ts';
import type { Denials } from './denials.ts';
import { nothingToReload, type Reload } from './reload.ts';
import type { Route } from './route.ts';
import { aclBootstrapRoutes } from './routes/acl-bootstrap.ts';
import { aclDecisionRoutes } from './routes/acl-decision.ts';
import { aclPolicyRoutes } from './routes/acl-policy.ts';
import { aclReplicationRoutes } from './routes/acl-replication.ts';
import { aclRoleRoutes } from './routes/acl-role.ts';
import { aclTokenRoutes } from './routes/acl-token.ts';
import { type AgentFacts, agentRoutes } from './routes/agent.ts';
import { agentReloadRoutes } from './routes/agent-reload.ts';
import { allocationRoutes } from './routes/allocation.ts';
import { authMethodRoutes } from './routes/auth-method.ts';
import { bindingRuleRoutes } from './routes/binding-rule.ts';
import { clientRoutes } from './routes/client.ts';
import { clientChecksRoutes } from './routes/client-checks.ts';
import { clientFileRoutes } from './routes/client-files.ts';
import { clientLifecycleRoutes } from './routes/client-lifecycle.ts';
import { clientStatisticsRoutes } from './routes/client-statistics.ts';
import { configEntryRoutes } from './routes/config-entry.ts';
import { deploymentRoutes } from './routes/deployment.ts';
import type { ProfileOfReader } from './routes/diagnosis.ts';
import { discoveryChainRoutes } from './routes/discovery-chain.ts';
import { evaluationRoutes } from './routes/evaluation.ts';
import { eventStreamRoutes } from './routes/event-stream.ts';
import { exchangedServiceRoutes } from './routes/exchanged-services.ts';
import { execRoutes } from './routes/exec.ts';
import { explainRoutes } from './routes/explain.ts';
import { intentionRoutes } from './routes/intention.ts';
import { introductionTokenRoutes } from './routes/introduction-token.ts';
import { jobRoutes } from './routes/job.ts';
import { jobFileRoutes } from './routes/job-file.ts';
import { jobLaunchRoutes } from './routes/job-launch.ts';
import { jobPlanRoutes } from './routes/job-plan.ts';
import { jobPolicyRoutes } from './routes/job-policy.ts';
import { jobScaleRoutes } from './routes/job-scale.ts';
import { jobStatusesRoutes } from './routes/job-statuses.ts';
import { jobVersionRoutes } from './routes/job-version.ts';
import { jobVersionsRoutes } from './routes/job-versions.ts';
import { loginRoutes } from './routes/login.ts';
import { namespaceRoutes, partitionRoutes } from './routes/namespace.ts';
import { nodeRoutes } from './routes/node.ts';
import { nodeAgentRoutes } from './routes/node-agent.ts';
import { nodePoolRoutes } from './routes/node-pool.ts';
import { operatorRoutes } from './routes/operator.ts';
import { peeringRoutes } from './routes/peering.ts';
import { planRoutes } from './routes/plan.ts';
import { questionRoutes } from './routes/questions.ts';
import { scalingPolicyRoutes } from './routes/scaling-policy.ts';
import { serverHealthRoutes } from './routes/server-health.ts';
import { serviceRoutes } from './routes/service.ts';
import { systemRoutes } from './routes/system.ts';
import { templatedPolicyRoutes } from './routes/templated-policy.ts';
import { uiSettingsRoutes } from './routes/ui-settings.ts';
import { uiStreamRoutes } from './routes/ui-stream.ts';
import { variableRoutes } from './routes/variable.ts';
import { workloadIdentityRoutes } from './routes/workload-identity.ts';
import type { ServerCertificate } from './server-certificate.ts';
import type { TracingOfApi } from './trace-request.ts';
import { Turns } from './turns.ts';
import type { Ui } from './ui/ui.ts';

/** The options of the API that routes need. */
export interface RouteOptions {
  readonly acl: Omit<ResolveOptions, 'box' | 'clock'>;
  readonly name: string;
  readonly version: string;
  /** Reads the configuration of the agent again; absent: it has none. */
  readonly reload?: Reload | undefined;
  /** Where spans go; `undefined`: nothing is traced. */
  readonly tracing?: TracingOfApi | undefined;
  /** Whether this is the API of a reader, which leaves questions about the agent to the main thread. */
  readonly isReader?: boolean;
  /** Profiles of the readers of this agent; absent without readers. */
  readonly profileOfReader?: ProfileOfReader | undefined;
}

interface RouteParts {
  readonly server: Server;
  readonly resolver: Resolver;
  readonly denials: Denials;
  readonly ui: Ui;
  readonly facts: AgentFacts;
  /** The TLS certificate in use. */
  readonly certificate: () => ServerCertificate | undefined;
  /** The address of the API. */
  readonly address: () => string;
  readonly options: RouteOptions;
}

/** All routes of the API. */
export function routesOf(parts: RouteParts): readonly Route[] {
  const { server, resolver, denials, ui, facts, certificate, address, options } = parts;
  const { name } = options;
  const turns = new Turns(server.context.world);
  return [
    ...jobRoutes(server.context, () => server.planner, resolver, turns),
    ...jobPlanRoutes(() => server.planner, turns),
    ...planRoutes(server, turns),
    ...jobVersionsRoutes(),
    ...jobVersionRoutes(server.context, resolver),
    ...jobStatusesRoutes(),
    ...jobScaleRoutes(server.context),
    ...scalingPolicyRoutes(),
    ...jobPolicyRoutes(server.context),
    ...jobLaunchRoutes(server.context),
    ...serviceRoutes(server.context),
    ...systemRoutes(server),
    ...jobFileRoutes(server.context, turns),
    ...allocationRoutes(server.context),
    ...deploymentRoutes(server.context),
    ...evaluationRoutes(server.context),
    ...explainRoutes(server),
    ...nodeRoutes(server),
    ...nodePoolRoutes(server),
    ...introductionTokenRoutes(server.context),
    ...operatorRoutes(server, options.profileOfReader),
    ...nodeAgentRoutes(server, options.tracing),
    ...clientRoutes(server),
    ...clientFileRoutes(server),
    ...clientStatisticsRoutes(server),
    ...eventStreamRoutes(server),
    ...clientLifecycleRoutes(server),
    ...clientChecksRoutes(server),
    ...execRoutes(server),
    ...aclBootstrapRoutes(server.context, server.bootstrapReset),
    ...aclTokenRoutes(server.context, { name, defaultPolicy: resolver.defaultPolicy }),
    ...aclPolicyRoutes(server.context),
    ...aclRoleRoutes(server.context),
    ...aclDecisionRoutes(resolver, denials),
    ...authMethodRoutes(server),
    ...bindingRuleRoutes(server.context),
    ...loginRoutes(server),
    ...questionRoutes(server, { certificate, isReader: options.isReader === true }),
    ...variableRoutes(server.context),
    ...configEntryRoutes(server),
    ...discoveryChainRoutes(server),
    ...intentionRoutes(options.acl.enabled ? resolver.defaultPolicy : 'allow'),
    ...workloadIdentityRoutes(server),
    ...exchangedServiceRoutes(() => server.exchange),
    ...peeringRoutes(server),
    ...templatedPolicyRoutes(server.context),
    ...aclReplicationRoutes(),
    ...namespaceRoutes(server.context),
    ...partitionRoutes(server.context),
    ...uiStreamRoutes(),
    ...serverHealthRoutes(server, address),
    ...uiSettingsRoutes(server, ui, options),
    ...agentReloadRoutes(server, options.reload ?? nothingToReload),
    ...agentRoutes(facts),
  ];
}
