import { formatInstant } from '../../base/instant.ts';
import type { Steps } from '../../base/steps.ts';
import { exchangedServiceEndpoints as contract, type whyQuery } from '../../contract/peering.ts';
import { refusal } from '../../model/errors.ts';
import { defaultNamespace, defaultPartition } from '../../model/namespace/namespace.ts';
import type { ListedExport, ListedImport } from '../../model/peering/exchanged-service.ts';
import { EntryExports, serviceOfText, textOfService } from '../../model/peering/exports.ts';
import type { ImportedService } from '../../model/peering/imported.ts';
import { type ExchangeExplanation, whyExported, whyImported } from '../../model/peering/why.ts';
import { chainsOf, exportsEntry } from '../../server/peering/exchange/exported.ts';
import type { ServiceExchange } from '../../server/peering/exchange/service-exchange.ts';
import { exchangeFacts } from '../../server/peering/exchange/why.ts';
import { importedServices, peerings, serviceRegistrations } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import type { Input, PageStart, Route } from '../route.ts';
import { serveList, serveSteps } from '../serve.ts';

/**
 * Services exchanged with peers, and explanations.
 * Source: docs/behaviour/peering.md#exported-services.
 */
export const exchangedServiceRoutes = (exchange: () => ServiceExchange): Route[] => [
  ...serveList(contract.exported, {
    rows: exportedRows,
    // `between` is a pause, not a service.
    matches: (row: ListedExport) => row !== between,
    keyOf: ({ Namespace, Service }: ListedExport) => [Namespace, Service],
    present: (row: ListedExport) => row,
  }),
  ...serveList(contract.imported, {
    rows: ({ partition, snapshot }, { from, reverse }) =>
      snapshot
        .table(importedServices)
        .scan({ prefix: [partition], ...(from && { from }), reverse }),
    keyOf: ({ Partition, Peer, Namespace, Name }) => [Partition, Peer, Namespace, Name],
    record: importedRow,
    present: importedRow,
  }),
  ...serveSteps(contract.why, (input) => explained(exchange(), input)),
];

const importedRow = ({ Name, Partition, Namespace, Peer }: ImportedService): ListedImport => ({
  Service: Name,
  Partition,
  Namespace,
  SourcePeer: Peer,
});

/** @throws RosterError `peering-not-found` */
function* explained(
  exchange: ServiceExchange,
  input: Input<typeof whyQuery>,
): Steps<ExchangeExplanation> {
  const { parameters, partition, snapshot, query } = input;
  const name = parameters.name!.toLowerCase();
  const peering = snapshot.table(peerings).get(partition, name);
  if (peering === undefined) throw refusal('peering-not-found', { name });
  const service = { namespace: input.namespace || defaultNamespace, name: query.service };
  const facts = yield* exchangeFacts(
    snapshot,
    peering,
    service,
    exchange.stateOf({ partition, name }),
  );
  return {
    Peer: name,
    Partition: partition,
    Service: service.name,
    Namespace: service.namespace,
    StreamOpenSince: facts.openSinceMs === undefined ? null : formatInstant(facts.openSinceMs),
    Export: whyExported(facts),
    Import: whyImported(facts),
  };
}

/** Yielded now and then while names are collected, so that other requests continue. */
const between: ListedExport = { Service: '', Partition: '', Namespace: '', Consumers: {} };
const namesPerStep = 32;

function* exportedRows(
  { partition, snapshot }: Pick<Input, 'partition' | 'snapshot'>,
  { from, reverse }: PageStart,
): Iterable<ListedExport> {
  const exports = new EntryExports(exportsEntry(snapshot, partition));
  const there = new Set<string>();
  let seen = 0;
  for (const text of exports.isOpen ? servicesThere(snapshot, partition) : []) {
    if (text !== undefined) there.add(text);
    if (++seen % namesPerStep === 0) yield between;
  }
  const all = [...new Set([...there, ...exports.named])].sort();
  const first = from && textOfService({ namespace: from[0]!, name: from[1]! });
  for (const text of reverse ? all.reverse() : all) {
    if (first !== undefined && (reverse ? text > first : text < first)) continue;
    const service = serviceOfText(text);
    const { peers, partitions } = exports.consumersOf(service, there.has(text));
    if (peers.length + partitions.length === 0) continue;
    yield {
      Service: service.name,
      Partition: partition,
      Namespace: service.namespace,
      Consumers: {
        ...(peers.length > 0 && { Peers: peers }),
        ...(partitions.length > 0 && { Partitions: partitions }),
      },
    };
  }
}

/** Services that a wildcard rule exports. `undefined` is a pause. */
function* servicesThere(snapshot: Snapshot, partition: string): Iterable<string | undefined> {
  if (partition === defaultPartition) yield* registeredServices(snapshot);
  yield* chainsOf(snapshot, partition);
}

/** Services with an instance. */
function* registeredServices(snapshot: Snapshot): Iterable<string> {
  const table = snapshot.table(serviceRegistrations);
  const prefix = [defaultPartition];
  let last: readonly string[] = [];
  while (true) {
    const from = last.length === 0 ? {} : { from: [...prefix, ...last, '\uffff'] };
    const next = table.scan({ prefix, ...from }).next();
    if (next.done === true) return;
    const { Namespace: namespace, ServiceName: name } = next.value;
    last = [namespace, name];
    yield textOfService({ namespace, name });
  }
}
