import { each, type Steps } from '../../../base/steps.ts';
import { defaultPartition } from '../../../model/namespace/namespace.ts';
import type { ServiceKey } from '../../../model/peering/exchange.ts';
import { traceExport } from '../../../model/peering/exports.ts';
import type { StoredPeering } from '../../../model/peering/peering.ts';
import type { ExchangeFacts } from '../../../model/peering/why.ts';
import { importedInstances, importedServices } from '../../../state/tables.ts';
import type { Snapshot } from '../../../state/types.ts';
import { exportsEntry, hasChain, ownInstances } from './exported.ts';
import type { ExchangeState } from './service-exchange.ts';

/**
 * Everything that decides whether the service is at the peer, and whether the peer's service is
 * here.
 */
export function* exchangeFacts(
  snapshot: Snapshot,
  peering: StoredPeering,
  service: ServiceKey,
  state: ExchangeState,
): Steps<ExchangeFacts> {
  const { Partition: partition, Name: peer } = peering;
  const own = partition === defaultPartition ? yield* count(ownInstances(snapshot, service)) : 0;
  const prefix = [partition, peer, service.namespace, service.name];
  const isImported = snapshot.table(importedServices).has(...prefix);
  const imported = yield* count(snapshot.table(importedInstances).scan({ prefix }));
  const { openSinceMs, hasToldAll, toldAllAtMs } = state;
  return {
    peer,
    service,
    openSinceMs,
    hasToldAll,
    toldAllAtMs,
    hasEnded: peering.State === 'TERMINATED' || peering.DeletedAt !== 0,
    trace: traceExport(exportsEntry(snapshot, partition), service, {
      peer,
      isThere: own > 0 || hasChain(snapshot, partition, service),
    }),
    ownInstances: own,
    sending: state.sending(service),
    importedInstances: isImported ? imported : undefined,
  };
}

function* count(items: Iterable<unknown>): Steps<number> {
  let number = 0;
  yield* each(items, () => number++);
  return number;
}
