import type { exchangedServiceEndpoints } from '../contract/peering.ts';
import { callsOf } from './calls.ts';
import { type CallOptions, type ListOptions, listQuery, type Requester } from './requester.ts';

interface InPartition {
  readonly partition?: string | undefined;
}

/** What is exchanged with peers. */
export type ExchangedServices = ReturnType<typeof exchangedServicesOf>;

export function exchangedServicesOf(requester: Requester) {
  const { read } = callsOf<typeof exchangedServiceEndpoints>(requester);
  return {
    /** The services that are exported, and to whom. */
    exported: (options: ListOptions & InPartition = {}) =>
      read('GET /v1/exported-services', {}, options, inPartition(options, listQuery(options))),
    /** The services that peers export to this cluster. */
    imported: (options: ListOptions & InPartition = {}) =>
      read('GET /v1/imported-services', {}, options, inPartition(options, listQuery(options))),
    /** Why a service is or is not at the peer, and the peer's here. */
    why: (peer: string, service: string, options: CallOptions & InPartition = {}) =>
      read('GET /v1/peering/:name/why', { name: peer }, options, inPartition(options, { service })),
  };
}

const inPartition = <Q extends object>({ partition }: InPartition, query: Q) => ({
  ...query,
  partition: partition || undefined,
});
