import type { exchangedServiceEndpoints } from '../contract/peering.ts';
import { callsOf } from './calls.ts';
import { type CallOptions, type ListOptions, listQuery, type Requester } from './requester.ts';

interface InPartition {
  readonly partition?: string | undefined;
}

export function exchangedServicesOf(requester: Requester) {
  const { read } = callsOf<typeof exchangedServiceEndpoints>(requester);
  return {
    /** The exported services with their consumers. */
    exported: (options: ListOptions & InPartition = {}) =>
      read('GET /v1/exported-services', {}, options, inPartition(options, listQuery(options))),
    /** The services that peers export to this cluster. */
    imported: (options: ListOptions & InPartition = {}) =>
      read('GET /v1/imported-services', {}, options, inPartition(options, listQuery(options))),
    /** Why a service is exported to the peer or not, and why the peer's is imported or not. */
    why: (peer: string, service: string, options: CallOptions & InPartition = {}) =>
      read('GET /v1/peering/:name/why', { name: peer }, options, inPartition(options, { service })),
  };
}

const inPartition = <Q extends object>({ partition }: InPartition, query: Q) => ({
  ...query,
  partition: partition || undefined,
});
