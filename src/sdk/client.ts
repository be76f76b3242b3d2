/**
 * The typed client of the API, used by the node agent and the command line. Every read gives a
 * value and its index; give the index back to wait until the value changes.
 *
 *     const client = createClient({ address: 'http://127.0.0.1:4720', token });
 *     const { value: job, index } = await client.jobs.read('web');
 *     const changed = await client.jobs.read('web', { index, waitMs: 60_000 });
 */
import type { Random } from '../base/ports.ts';
import { type Client, clientOver } from './client-over.ts';
import { ConnectionError } from './errors.ts';
import { failoverTransport } from './failover-transport.ts';
import { realRandom, repeats } from './repeats-real.ts';
import { isNamed, type Resolve, ServerChoice } from './server-choice.ts';
import type { TlsTrust } from './tls-trust.ts';
import type { Transport } from './transport.ts';
import { httpTransport } from './transport-http.ts';
import { resolveName } from './transport-names.ts';

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
  /** Stands between the client and its transport. */
  readonly around?: ((transport: Transport) => Transport) | undefined;
  /** Decides which of several servers is asked first; the default is the system's. */
  readonly random?: Pick<Random, 'below'> | undefined;
  /** Looks up host names; the default is the system's resolver. */
  readonly resolve?: Resolve | undefined;
}

/** @throws ConnectionError if the address is malformed */
export function createClient(options: ClientOptions): Client {
  const { token, namespace, partition } = options;
  const given = typeof options.address === 'string' ? [options.address] : options.address;
  const addresses = given.map(checkedAddress);
  const address = addresses.join(' or ');
  const { around = (transport) => transport } = options;
  const transport = around(options.transport ?? transportTo(addresses, options));
  return clientOver({
    transport,
    address,
    namespace,
    partition,
    token: typeof token === 'function' ? token : () => token,
  });
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
export type { AnyRequest, Client } from './client-over.ts';
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
export type * from './plans.ts';
export type { Answer, CallOptions, ListOptions, ReadOptions, Written } from './requester.ts';
export type * from './scaling-policies.ts';
export type * from './scheduler.ts';
export type * from './services.ts';
export type * from './snapshots.ts';
export type * from './system.ts';
export type * from './transport.ts';
export type * from './ui.ts';
export type * from './variables.ts';
export type { WaitOptions } from './wait.ts';
export { type WatchOptions, waitFor, watch } from './watch.ts';
