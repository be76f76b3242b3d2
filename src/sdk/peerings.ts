import type { peeringEndpoints } from '../contract/peering.ts';
import type { Peering } from '../model/peering/peering.ts';
import { callsOf } from './calls.ts';
import {
  type CallOptions,
  type ListOptions,
  listQuery,
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

export type Peerings = ReturnType<typeof peeringsOf>;

export function peeringsOf(requester: Requester) {
  const { write, read } = callsOf<typeof peeringEndpoints>(requester);
  return {
    /** Makes a token with which one other cluster can peer with this one. */
    generateToken: (request: GenerateToken, options?: CallOptions) =>
      write('POST /v1/peering/token', {}, options, { body: request }),
    /** Peers with the cluster of the token. The stream opens afterwards. */
    establish: (request: EstablishPeering, options?: CallOptions) =>
      write('POST /v1/peering/establish', {}, options, { body: request }),
    list: (options: ListOptions & InPartition = {}) =>
      read('GET /v1/peerings', {}, options, {
        ...listQuery(options),
        partition: options.partition || undefined,
      }),
    /** With `index` it waits for a change of the peering or its stream. */
    read: (name: string, options: ReadOptions & InPartition = {}) =>
      read('GET /v1/peering/:name', { name }, options, {
        partition: options.partition || undefined,
      }),
    /**
     * Marks the peering for deletion, if there is one. It can be read until it is deleted
     * completely.
     */
    delete: (name: string, options: CallOptions & InPartition = {}) =>
      write('DELETE /v1/peering/:name', { name }, options, {
        query: {
          partition: options.partition || undefined,
        },
      }),
  };
}
