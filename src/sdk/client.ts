/**
 * The typed client of the API, used by the node agent and the command line. Every read gives a
 * value and its index; give the index back to wait until the value changes.
 *
 *     const client = createClient({ address: 'http://127.0.0.1:4720', token });
 *     const { value: job, index } = await client.jobs.read('web');
 *     const changed = await client.jobs.read('web', { index, waitMs: 60_000 });
 */
import type { Random } from '../base/ports.ts';
import type { EveryNoun } from '../contract/every.ts';
import { aclOf, namespacesOf, partitionsOf } from './acl.ts';
import { aclDecisionsOf } from './acl-decisions.ts';
import { agentOf, statusOf } from './agent.ts';
import { allocationsOf } from './allocations.ts';
import { type Calls, callsOf } from './calls.ts';
import { configEntriesOf, intentionsOf } from './config-entries.ts';
import { deploymentsOf } from './deployments.ts';
import { discoveryChainsOf } from './discovery-chains.ts';
import { ConnectionError } from './errors.ts';
import { evaluationsOf } from './evaluations.ts';
import { eventsOf } from './events.ts';
import { exchangedServicesOf } from './exchanged-services.ts';
import { execOf } from './exec.ts';
import { explanationsOf } from './explanations.ts';
import { failoverTransport } from './failover-transport.ts';
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
import { realRandom, repeats } from './repeats-real.ts';
import { createRequester } from './requester.ts';
import { scalingPoliciesOf } from './scaling-policies.ts';
import { schedulerOf } from './scheduler.ts';
import { isNamed, type Resolve, ServerChoice } from './server-choice.ts';
import { servicesOf } from './services.ts';
import { snapshotsOf } from './snapshots.ts';
import { systemOf } from './system.ts';
import type { TlsTrust } from './tls-trust.ts';
import type { Method, Transport, TransportAnswer } from './transport.ts';
import { httpTransport } from './transport-http.ts';
import { resolveName } from './transport-names.ts';
import { uiOf } from './ui.ts';
import { upgradeOf } from './upgrade.ts';
import { variablesOf } from './variables.ts';

export interface ClientOptions extends TlsTrust {
  /**
   * `http://host:port` or `https://host:port`, with or without a base path; a list for several servers of one
   * cluster. A host name stands for all its machines.
   */
  readonly address: string | readonly string[];
  /** A secret, or a function that returns the current secret. */
  readonly token?: string | (() => string | undefined) | undefined;
  /** For requests without a namespace. The server's default is `default`. */
  readonly namespace?: string | undefined;
  /** For requests without a partition. The server's default is the partition of the token. */
  readonly partition?: string | undefined;
  /** Replaces HTTP. */
  readonly transport?: Transport | undefined;
  /** Decides which of several servers is asked first; the default is the system's. */
  readonly random?: Pick<Random, 'below'> | undefined;
  /** Looks up host names; the default is the system's resolver. */
  readonly resolve?: Resolve | undefined;
}

/** The calls of each noun. */
const nouns = {
  authMethods: authMethodsOf,
  bindingRules: bindingRulesOf,
  logins: loginsOf,
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
  introductionTokens: introductionTokensOf,
  nodePools: nodePoolsOf,
  scheduler: schedulerOf,
  /** Snapshots of the whole state, to back it up. */
  snapshots: snapshotsOf,
  leader: leaderOf,
  system: systemOf,
  files: filesOf,
  logs: logsOf,
  /** The event stream. */
  events: eventsOf,
  /** The web interface. */
  ui: uiOf,
  /** Secrets and other texts for jobs. */
  upgrade: upgradeOf,
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

/** @throws ConnectionError if the address is malformed */
export function createClient(options: ClientOptions): Client {
  const { token, namespace, partition } = options;
  const given = typeof options.address === 'string' ? [options.address] : options.address;
  const addresses = given.map(checkedAddress);
  const address = addresses.join(' or ');
  const transport = options.transport ?? transportTo(addresses, options);
  const requester = createRequester({
    transport,
    address,
    namespace,
    partition,
    token: typeof token === 'function' ? token : () => token,
  });
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

/** One server needs no choice. */
function transportTo(addresses: readonly string[], options: ClientOptions): Transport {
  const { caCertificate, clientCertificate, clientKey, own } = options;
  const { random = realRandom, resolve = resolveName } = options;
  const trust = { caCertificate, clientCertificate, clientKey, own };
  const [only] = addresses;
  if (only === undefined)
    throw new ConnectionError('', 'malformed-address', 'No address is given.');
  if (addresses.length === 1 && !isNamed(only)) return httpTransport({ address: only, ...trust });
  return failoverTransport({
    choice: new ServerChoice({ addresses, random, resolve }),
    transportOf: ({ address, ip }) => httpTransport({ address, ip, ...trust }),
    repeats,
  });
}

/** Removes a trailing slash. `host:port` alone means HTTP. */
function checkedAddress(given: string): string {
  const address = given.includes('://') ? given : `http://${given}`;
  // The oldest Node of the client has no `URL.parse`.
  const url = URL.canParse(address) ? new URL(address) : null;
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
export {
  ApiError,
  ConnectionError,
  EventStreamError,
  isMissing,
  SessionError,
  type UnplacedGroup,
  WaitError,
} from './errors.ts';
export type * from './evaluations.ts';
export type * from './events.ts';
export type * from './exec.ts';
export type * from './explanations.ts';
export type * from './files.ts';
export type { FilePiece } from './frames.ts';
export type * from './introduction-tokens.ts';
export type * from './job-policies.ts';
export type * from './jobs.ts';
export type * from './leader.ts';
export type * from './logins.ts';
export type * from './logs.ts';
export type * from './node-agent.ts';
export type * from './node-pools.ts';
export type * from './nodes.ts';
export type * from './peerings.ts';
export type { Answer, CallOptions, ListOptions, ReadOptions, Written } from './requester.ts';
export type * from './scaling-policies.ts';
export type * from './scheduler.ts';
export type * from './services.ts';
export type * from './snapshots.ts';
export type * from './system.ts';
export type * from './transport.ts';
export type * from './variables.ts';
export type { WaitOptions } from './wait.ts';
export { type WatchOptions, waitFor, watch } from './watch.ts';
