/**
 * The typed client of the API, used by the node agent and the command line. Every read gives its
 * value with the index it is of; give that back to block until the value changed.
 *
 *     const client = createClient({ address: 'http://127.0.0.1:4720', token });
 *     const { value: job, index } = await client.jobs.read('web');
 *     const changed = await client.jobs.read('web', { index, waitMs: 60_000 });
 */
import type { EveryNoun } from '../contract/every.ts';
import {
  type Acl,
  aclOf,
  type Namespaces,
  namespacesOf,
  type Partitions,
  partitionsOf,
} from './acl.ts';
import { type AclDecisions, aclDecisionsOf } from './acl-decisions.ts';
import { type AgentApi, agentOf, type StatusApi, statusOf } from './agent.ts';
import { type Allocations, allocationsOf } from './allocations.ts';
import { type Calls, callsOf } from './calls.ts';
import {
  type ConfigEntries,
  configEntriesOf,
  type Intentions,
  intentionsOf,
} from './config-entries.ts';
import { type Deployments, deploymentsOf } from './deployments.ts';
import { type DiscoveryChains, discoveryChainsOf } from './discovery-chains.ts';
import { ConnectionError } from './errors.ts';
import { type Evaluations, evaluationsOf } from './evaluations.ts';
import { type Events, eventsOf } from './events.ts';
import { type ExchangedServices, exchangedServicesOf } from './exchanged-services.ts';
import { type Exec, execOf } from './exec.ts';
import { type Explanations, explanationsOf } from './explanations.ts';
import { type Files, filesOf } from './files.ts';
import { type IntroductionTokens, introductionTokensOf } from './introduction-tokens.ts';
import { type JobPolicies, jobPoliciesOf } from './job-policies.ts';
import { type Jobs, jobsOf } from './jobs.ts';
import {
  type AuthMethods,
  authMethodsOf,
  type BindingRules,
  bindingRulesOf,
  type Keyring,
  keyringOf,
  type Logins,
  loginsOf,
} from './logins.ts';
import { type Logs, logsOf } from './logs.ts';
import { type NodeAgent, nodeAgentOf } from './node-agent.ts';
import { type NodePools, nodePoolsOf } from './node-pools.ts';
import { type Nodes, nodesOf } from './nodes.ts';
import { type Peerings, peeringsOf } from './peerings.ts';
import { createRequester } from './requester.ts';
import { type ScalingPolicies, scalingPoliciesOf } from './scaling-policies.ts';
import { type SchedulerApi, schedulerOf } from './scheduler.ts';
import { type Services, servicesOf } from './services.ts';
import { type SystemApi, systemOf } from './system.ts';
import type { TlsTrust } from './tls-trust.ts';
import type { Transport } from './transport.ts';
import { httpTransport } from './transport-http.ts';
import { type Variables, variablesOf } from './variables.ts';

export interface ClientOptions extends TlsTrust {
  /** `http://host:port` or `https://host:port`, with or without a base path. */
  readonly address: string;
  /** A secret, or what gives the one that holds at the moment. */
  readonly token?: string | (() => string | undefined) | undefined;
  /** For every request that names none; the server's own default is `default`. */
  readonly namespace?: string | undefined;
  /** Where requests mean to be that name no partition; the token's own without it. */
  readonly partition?: string | undefined;
  /** Instead of HTTP. */
  readonly transport?: Transport | undefined;
}

export interface Client {
  readonly authMethods: AuthMethods;
  readonly bindingRules: BindingRules;
  readonly logins: Logins;
  readonly keyring: Keyring;
  readonly acl: Acl;
  /** What tokens may do, and why. */
  readonly aclDecisions: AclDecisions;
  readonly namespaces: Namespaces;
  readonly partitions: Partitions;
  readonly jobs: Jobs;
  /** What jobs have to be like. */
  readonly jobPolicies: JobPolicies;
  /** What jobs say about how they are scaled. */
  readonly scalingPolicies: ScalingPolicies;
  readonly allocations: Allocations;
  /** Where services are found. */
  readonly services: Services;
  /** What the routing entries of services come to. */
  readonly discoveryChains: DiscoveryChains;
  /** What is exchanged with peers. */
  readonly exchangedServices: ExchangedServices;
  readonly evaluations: Evaluations;
  /** Commands in tasks. */
  readonly exec: Exec;
  readonly explanations: Explanations;
  readonly deployments: Deployments;
  readonly nodes: Nodes;
  readonly introductionTokens: IntroductionTokens;
  readonly nodePools: NodePools;
  readonly scheduler: SchedulerApi;
  readonly system: SystemApi;
  readonly files: Files;
  readonly logs: Logs;
  /** What happens, as it happens. */
  readonly events: Events;
  /** Texts that jobs need and nobody else is to see. */
  readonly variables: Variables;
  /** What services, gateways and the mesh are told. */
  readonly configEntries: ConfigEntries;
  /** Which services may call each other. */
  readonly intentions: Intentions;
  /** Clusters that peer with this one. */
  readonly peerings: Peerings;
  readonly agent: AgentApi;
  readonly status: StatusApi;
  /** What a node asks for itself. */
  readonly nodeAgent: NodeAgent;
  /** Every endpoint by its method and path, with the types of the contract. */
  readonly calls: Calls<EveryNoun>;
  /** Ends every request that is under way and lets go of the connections. */
  close(): Promise<void>;
}

/** @throws ConnectionError when the address is none. */
export function createClient(options: ClientOptions): Client {
  const { token, namespace, partition } = options;
  const { caCertificate, clientCertificate, clientKey, own } = options;
  const address = checkedAddress(options.address);
  const transport =
    options.transport ??
    httpTransport({ address, caCertificate, clientCertificate, clientKey, own });
  const requester = createRequester({
    transport,
    address,
    namespace,
    partition,
    token: typeof token === 'function' ? token : () => token,
  });
  return {
    acl: aclOf(requester),
    aclDecisions: aclDecisionsOf(requester),
    namespaces: namespacesOf(requester),
    partitions: partitionsOf(requester),
    authMethods: authMethodsOf(requester),
    bindingRules: bindingRulesOf(requester),
    logins: loginsOf(requester),
    keyring: keyringOf(requester),
    jobs: jobsOf(requester),
    jobPolicies: jobPoliciesOf(requester),
    scalingPolicies: scalingPoliciesOf(requester),
    allocations: allocationsOf(requester),
    services: servicesOf(requester),
    discoveryChains: discoveryChainsOf(requester),
    exchangedServices: exchangedServicesOf(requester),
    evaluations: evaluationsOf(requester),
    exec: execOf(requester),
    explanations: explanationsOf(requester),
    deployments: deploymentsOf(requester),
    nodes: nodesOf(requester),
    introductionTokens: introductionTokensOf(requester),
    nodePools: nodePoolsOf(requester),
    scheduler: schedulerOf(requester),
    system: systemOf(requester),
    events: eventsOf(requester),
    variables: variablesOf(requester),
    configEntries: configEntriesOf(requester),
    intentions: intentionsOf(requester),
    peerings: peeringsOf(requester),
    files: filesOf(requester, address),
    logs: logsOf(requester, address),
    agent: agentOf(requester),
    status: statusOf(requester),
    nodeAgent: nodeAgentOf(requester, address),
    calls: callsOf<EveryNoun>(requester),
    close: () => transport.close(),
  };
}

/** The address without a slash at its end; `host:port` alone means HTTP. */
function checkedAddress(given: string): string {
  const address = given.includes('://') ? given : `http://${given}`;
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    const sentence = `"${given}" is not the address of an agent. It has the form http://127.0.0.1:4720.`;
    throw new ConnectionError(given, 'malformed-address', sentence);
  }
  if (url.search !== '' || url.hash !== '' || url.username !== '') {
    const sentence = `The address "${url.origin}" has more than a host, a port and a path. A token belongs in ROSTER_TOKEN.`;
    throw new ConnectionError(url.origin, 'malformed-address', sentence);
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

export type * from './acl.ts';
export type * from './acl-decisions.ts';
export type * from './agent.ts';
export type * from './allocations.ts';
export type * from './deployments.ts';
export type * from './discovery-chains.ts';
export { ApiError, ConnectionError, isMissing, SessionError } from './errors.ts';
export type * from './evaluations.ts';
export type * from './exec.ts';
export type * from './explanations.ts';
export type * from './files.ts';
export type { FilePiece } from './frames.ts';
export type * from './introduction-tokens.ts';
export type * from './job-policies.ts';
export type * from './jobs.ts';
export type * from './logins.ts';
export type * from './logs.ts';
export type * from './node-agent.ts';
export type * from './node-pools.ts';
export type * from './nodes.ts';
export type * from './peerings.ts';
export type { Answer, CallOptions, ListOptions, ReadOptions } from './requester.ts';
export type * from './scaling-policies.ts';
export type * from './scheduler.ts';
export type * from './services.ts';
export type * from './system.ts';
export type * from './transport.ts';
export type * from './variables.ts';
export { type WatchOptions, waitFor, watch } from './watch.ts';
