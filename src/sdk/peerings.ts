import type { Peering } from '../model/peering/peering.ts';
import {
  type Answer,
  type CallOptions,
  type ListOptions,
  listQuery,
  path,
  type ReadOptions,
  type Requester,
} from './requester.ts';

export type { Peering };

interface InPartition {
  readonly partition?: string | undefined;
}

export interface GenerateToken {
  readonly PeerName: string;
  readonly Partition?: string | undefined;
  /** Each `host:port`. */
  readonly ServerExternalAddresses?: readonly string[] | undefined;
  readonly Meta?: Readonly<Record<string, string>> | undefined;
}

export interface EstablishPeering {
  readonly PeerName: string;
  readonly PeeringToken: string;
  readonly Partition?: string | undefined;
  readonly Meta?: Readonly<Record<string, string>> | undefined;
}

export interface Peerings {
  /** Makes a token with which another cluster can peer with this one, once. */
  generateToken(
    request: GenerateToken,
    options?: CallOptions,
  ): Promise<Answer<{ readonly PeeringToken: string }>>;
  /** Peers with the cluster that made the token. The stream opens afterwards. */
  establish(request: EstablishPeering, options?: CallOptions): Promise<Answer<object>>;
  list(options?: ListOptions & InPartition): Promise<Answer<readonly Peering[]>>;
  /** With an `index` it waits for the peering, its stream included. */
  read(name: string, options?: ReadOptions & InPartition): Promise<Answer<Peering>>;
  /** Marks it for deletion; also where there is none. It can be read until all of it is gone. */
  delete(name: string, options?: CallOptions & InPartition): Promise<Answer<undefined>>;
}

export const peeringsOf = (requester: Requester): Peerings => ({
  generateToken: (request, options) =>
    requester.write('POST', '/v1/peering/token', options, request),
  establish: (request, options) =>
    requester.write('POST', '/v1/peering/establish', options, request),
  list: (options = {}) =>
    requester.read('/v1/peerings', options, {
      ...listQuery(options),
      partition: options.partition || undefined,
    }),
  read: (name, options = {}) =>
    requester.read(path`/v1/peering/${name}`, options, {
      partition: options.partition || undefined,
    }),
  delete: (name, options = {}) =>
    requester.write('DELETE', path`/v1/peering/${name}`, options, undefined, {
      partition: options.partition || undefined,
    }),
});
