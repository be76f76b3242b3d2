import type { ListedExport, ListedImport } from '../model/peering/exchanged-service.ts';
import type { ExchangeExplanation } from '../model/peering/why.ts';
import {
  type Answer,
  type CallOptions,
  type ListOptions,
  listQuery,
  path,
  type Requester,
} from './requester.ts';

interface InPartition {
  readonly partition?: string | undefined;
}

/** What is exchanged with peers. */
export interface ExchangedServices {
  /** The services that are exported, and to whom. */
  exported(options?: ListOptions & InPartition): Promise<Answer<readonly ListedExport[]>>;
  /** The services that peers export to this cluster. */
  imported(options?: ListOptions & InPartition): Promise<Answer<readonly ListedImport[]>>;
  /** Why a service is or is not at the peer, and the peer's here. */
  why(
    peer: string,
    service: string,
    options?: CallOptions & InPartition,
  ): Promise<Answer<ExchangeExplanation>>;
}

export const exchangedServicesOf = (requester: Requester): ExchangedServices => ({
  exported: (options = {}) =>
    requester.read('/v1/exported-services', options, inPartition(options, listQuery(options))),
  imported: (options = {}) =>
    requester.read('/v1/imported-services', options, inPartition(options, listQuery(options))),
  why: (peer, service, options = {}) =>
    requester.read(path`/v1/peering/${peer}/why`, options, inPartition(options, { service })),
});

const inPartition = <Q extends object>({ partition }: InPartition, query: Q) => ({
  ...query,
  partition: partition || undefined,
});
