import type { AnswerOf } from '../contract/endpoint.ts';
import type { serviceEndpoints } from '../contract/service.ts';
import { callsOf } from './calls.ts';
import { type CallOptions, type ListOptions, listQuery, type Requester } from './requester.ts';

/** Of a peer instead of this cluster. */
interface OfPeer {
  readonly peer?: string | undefined;
  /** Where the peering is; `default` when it is not given. */
  readonly partition?: string | undefined;
}

/** An instance of a peer has its name. */
export type FoundInstance = AnswerOf<(typeof serviceEndpoints)['instances']>[number];

export type Services = ReturnType<typeof servicesOf>;

export function servicesOf(requester: Requester) {
  const { read, write } = callsOf<typeof serviceEndpoints>(requester);
  return {
    /** The names there are, by namespace. */
    list: (options: ListOptions & OfPeer = {}) =>
      read('GET /v1/services', {}, options, { ...listQuery(options), ...peerQuery(options) }),
    /** Instances of a service; with `choose` (`2|KEY`) so many of them, always the same for a key. */
    instances: (
      name: string,
      options: ListOptions & OfPeer & { readonly choose?: string | undefined } = {},
    ) =>
      read('GET /v1/service/:service', { service: name }, options, {
        ...listQuery(options),
        ...peerQuery(options),
        choose: options.choose || undefined,
      }),
    /** Takes an instance that was left behind out of the list. */
    remove: (name: string, id: string, options?: CallOptions) =>
      write('DELETE /v1/service/:service/:id', { service: name, id }, options),
  };
}

const peerQuery = ({ peer, partition }: OfPeer) => ({
  peer: peer || undefined,
  partition: (peer && partition) || undefined,
});
