import type { AnswerOf } from '../contract/endpoint.ts';
import type { serviceEndpoints } from '../contract/service.ts';
import { callsOf } from './calls.ts';
import { type CallOptions, type ListOptions, listQuery, type Requester } from './requester.ts';

/** `peer`: services of this peer instead of this cluster. */
interface OfPeer {
  readonly peer?: string | undefined;
  /** The partition of the peering; by default `default`. */
  readonly partition?: string | undefined;
}

/** Instances of a peer carry its name. */
export type FoundInstance = AnswerOf<(typeof serviceEndpoints)['instances']>[number];

export type Services = ReturnType<typeof servicesOf>;

export function servicesOf(requester: Requester) {
  const { read, write } = callsOf<typeof serviceEndpoints>(requester);
  return {
    /** The names of services by namespace; with `counts` also their instances by status, and jobs. */
    list: (options: ListOptions & OfPeer & { readonly counts?: boolean | undefined } = {}) =>
      read('GET /v1/services', {}, options, {
        ...listQuery(options),
        ...peerQuery(options),
        counts: options.counts || undefined,
      }),
    /**
     * Instances of a service. `choose` (`2|KEY`) limits their number; the same key gets the same
     * instances.
     */
    instances: (
      name: string,
      options: ListOptions & OfPeer & { readonly choose?: string | undefined } = {},
    ) =>
      read('GET /v1/service/:service', { service: name }, options, {
        ...listQuery(options),
        ...peerQuery(options),
        choose: options.choose || undefined,
      }),
    /** Removes a stale instance. */
    remove: (name: string, id: string, options?: CallOptions) =>
      write('DELETE /v1/service/:service/:id', { service: name, id }, options),
  };
}

const peerQuery = ({ peer, partition }: OfPeer) => ({
  peer: peer || undefined,
  partition: (peer && partition) || undefined,
});
