/** The calls of the client over a given transport. It needs nothing of Node. */
import type { EveryNoun } from '../contract/every.ts';
import { aclOf, namespacesOf, partitionsOf } from './acl.ts';
import { aclDecisionsOf } from './acl-decisions.ts';
import { agentOf, statusOf } from './agent.ts';
import { allocationsOf } from './allocations.ts';
import { attentionOf } from './attention.ts';
import { type Calls, callsOf } from './calls.ts';
import { configEntriesOf, intentionsOf } from './config-entries.ts';
import { deploymentsOf } from './deployments.ts';
import { discoveryChainsOf } from './discovery-chains.ts';
import { evaluationsOf } from './evaluations.ts';
import { eventsOf } from './events.ts';
import { exchangedServicesOf } from './exchanged-services.ts';
import { execOf } from './exec.ts';
import { explanationsOf } from './explanations.ts';
import { filesOf } from './files.ts';
import { introductionTokensOf } from './introduction-tokens.ts';
import { jobPoliciesOf } from './job-policies.ts';
import { jobsOf } from './jobs.ts';
import { leaderOf } from './leader.ts';
import { limits } from './limits.ts';
import { authMethodsOf, bindingRulesOf, keyringOf, loginsOf } from './logins.ts';
import { logsOf } from './logs.ts';
import { nodeAgentOf } from './node-agent.ts';
import { nodePoolsOf } from './node-pools.ts';
import { nodesOf } from './nodes.ts';
import { peeringsOf } from './peerings.ts';
import { plansOf } from './plans.ts';
import { createRequester, type RequesterOptions } from './requester.ts';
import { scalingPoliciesOf } from './scaling-policies.ts';
import { schedulerOf } from './scheduler.ts';
import { searchOf } from './search.ts';
import { servicesOf } from './services.ts';
import { signInLinksOf } from './sign-in-links.ts';
import { snapshotsOf } from './snapshots.ts';
import { systemOf } from './system.ts';
import type { Method, TransportAnswer } from './transport.ts';
import { uiOf } from './ui.ts';
import { upgradeOf } from './upgrade.ts';
import { variablesOf } from './variables.ts';

/** The calls of each noun. */
const nouns = {
  authMethods: authMethodsOf,
  bindingRules: bindingRulesOf,
  logins: loginsOf,
  /** Links that sign in to the web interface. */
  signInLinks: signInLinksOf,
  keyring: keyringOf,
  acl: aclOf,
  /** Permissions of tokens, with reasons. */
  aclDecisions: aclDecisionsOf,
  namespaces: namespacesOf,
  partitions: partitionsOf,
  jobs: jobsOf,
  /** Rules that every job is checked against. */
  jobPolicies: jobPoliciesOf,
  /** The scaling policies in jobs. */
  scalingPolicies: scalingPoliciesOf,
  allocations: allocationsOf,
  /** Service discovery. */
  services: servicesOf,
  /** Compiled routing entries of services. */
  discoveryChains: discoveryChainsOf,
  /** Services exchanged with peers. */
  exchangedServices: exchangedServicesOf,
  evaluations: evaluationsOf,
  /** Commands in tasks. */
  exec: execOf,
  explanations: explanationsOf,
  deployments: deploymentsOf,
  nodes: nodesOf,
  /** Plans of acts, which are carried out by their ids. */
  plans: plansOf,
  introductionTokens: introductionTokensOf,
  nodePools: nodePoolsOf,
  scheduler: schedulerOf,
  /** Snapshots of the whole state, to back it up. */
  snapshots: snapshotsOf,
  leader: leaderOf,
  /** Everything that needs attention, with reasons. */
  attention: attentionOf,
  /** Everything that has a name. */
  search: searchOf,
  system: systemOf,
  files: filesOf,
  logs: logsOf,
  /** The event stream. */
  events: eventsOf,
  /** The web interface. */
  ui: uiOf,
  upgrade: upgradeOf,
  /** Secrets and other texts for jobs. */
  variables: variablesOf,
  /** Configuration of services, gateways and the mesh. */
  configEntries: configEntriesOf,
  /** Permission of services to call each other. */
  intentions: intentionsOf,
  /** Clusters that peer with this one. */
  peerings: peeringsOf,
  agent: agentOf,
  status: statusOf,
  /** The calls of a node agent. */
  nodeAgent: nodeAgentOf,
};

type Nouns = { readonly [N in keyof typeof nouns]: ReturnType<(typeof nouns)[N]> };

export interface Client extends Nouns {
  /** Every endpoint by its method and path, with the types of the contract. */
  readonly calls: Calls<EveryNoun>;
  /** Sends any request once, and resolves with any answer, a refusal included. */
  send(request: AnyRequest): Promise<TransportAnswer>;
  /** Ends all pending requests and closes all connections. */
  close(): Promise<void>;
}

export interface AnyRequest {
  readonly method: Method;
  /** Percent-encoded, with its query. The client's namespace and partition are added unless it has them. */
  readonly path: string;
  /** Names in lower case, besides that of the token. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<Uint8Array> | undefined;
  readonly signal?: AbortSignal | undefined;
}

export function clientOver(options: RequesterOptions): Client {
  const { transport, address, namespace, partition } = options;
  const requester = createRequester(options);
  const calls = Object.entries(nouns).map(([noun, of]) => [noun, of(requester, address)]);
  return {
    ...(Object.fromEntries(calls) as Nouns),
    calls: callsOf<EveryNoun>(requester),
    send: ({ method, path, headers, body, signal }) =>
      transport.send({
        method,
        path: placed(path, { namespace, partition }),
        headers: { ...requester.headers(), ...headers },
        body,
        signal,
        headTimeoutMs: limits.longWorkTimeoutMs,
        bodyTimeoutMs: 0,
      }),
    close: () => transport.close(),
  };
}

/** The path with the parameters that it lacks. */
function placed(path: string, given: Readonly<Record<string, string | undefined>>): string {
  const start = path.indexOf('?');
  const query = new URLSearchParams(start < 0 ? '' : path.slice(start));
  const lacking = Object.entries(given).filter(
    (one): one is [string, string] => one[1] !== undefined && !query.has(one[0]),
  );
  if (lacking.length === 0) return path;
  return `${path}${start < 0 ? '?' : '&'}${new URLSearchParams(lacking)}`;
}
