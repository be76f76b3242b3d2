import type {
  NamespaceServices,
  ServiceRegistration,
} from '../model/service-registration/service-registration.ts';
import {
  type Answer,
  type CallOptions,
  type ListOptions,
  listQuery,
  path,
  type Requester,
} from './requester.ts';

/** Of a peer instead of this cluster. */
interface OfPeer {
  readonly peer?: string | undefined;
  /** Where the peering is; `default` when it is not given. */
  readonly partition?: string | undefined;
}

/** An instance of a peer has its name. */
export type FoundInstance = ServiceRegistration & { readonly Peer?: string };

export interface Services {
  /** The names there are, by namespace. */
  list(options?: ListOptions & OfPeer): Promise<Answer<readonly NamespaceServices[]>>;
  /** Instances of a service; with `choose` (`2|KEY`) so many of them, always the same for a key. */
  instances(
    name: string,
    options?: ListOptions & OfPeer & { readonly choose?: string | undefined },
  ): Promise<Answer<readonly FoundInstance[]>>;
  /** Takes an instance that was left behind out of the list. */
  remove(
    name: string,
    id: string,
    options?: CallOptions,
  ): Promise<Answer<{ readonly Index: number }>>;
}

export const servicesOf = (requester: Requester): Services => ({
  list: (options = {}) =>
    requester.read('/v1/services', options, { ...listQuery(options), ...peerQuery(options) }),
  instances: (name, options = {}) =>
    requester.read(path`/v1/service/${name}`, options, {
      ...listQuery(options),
      ...peerQuery(options),
      choose: options.choose || undefined,
    }),
  remove: (name, id, options) =>
    requester.write('DELETE', path`/v1/service/${name}/${id}`, options),
});

const peerQuery = ({ peer, partition }: OfPeer) => ({
  peer: peer || undefined,
  partition: (peer && partition) || undefined,
});
