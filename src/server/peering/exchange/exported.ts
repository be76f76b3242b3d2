import {
  type ConfigEntry,
  everyService,
  isRoutingKind,
  routingKinds,
} from '../../../model/config-entry/config-entry.ts';
import { defaultPartition, scopeNamePattern } from '../../../model/namespace/namespace.ts';
import type { ServiceKey } from '../../../model/peering/exchange.ts';
import {
  type ExportRule,
  type ExportsEntry,
  PeerExports,
  serviceOfText,
  textOfService,
} from '../../../model/peering/exports.ts';
import type { ServiceRegistration } from '../../../model/service-registration/service-registration.ts';
import { isServiceName } from '../../../model/service-registration/validate-report.ts';
import {
  configEntries,
  namespaces,
  partitions,
  serviceRegistrations,
} from '../../../state/tables.ts';
import type { Change, Snapshot, State } from '../../../state/types.ts';

export interface PeerPlace {
  readonly partition: string;
  readonly name: string;
}

/**
 * The `exported-services` entry of a partition.
 * Source: docs/behaviour/peering.md#exported-services.
 */
export function exportsEntry(snapshot: Snapshot, partition: string): ExportsEntry | undefined {
  const table = snapshot.table(configEntries);
  const entry = table.find({ prefix: [partition, 'default', 'exported-services', partition] });
  const exports = entry as unknown as ExportsEntry | undefined;
  const rules = exports?.Services ?? [];
  return rules.every(canBeTold) ? exports : { Services: rules.filter(canBeTold) };
}

/**
 * Entries of former versions may name services that peers refuse: telling one would end the stream
 * again and again.
 */
const canBeTold = ({ Name, Namespace }: ExportRule): boolean =>
  (Name === everyService || isServiceName(Name)) &&
  (Namespace === everyService || Namespace === '' || scopeNamePattern.test(Namespace));

/** The partition whose `exported-services` entry changes. */
export function exportingPartition({ table, before, after }: Change): string | undefined {
  if (table !== configEntries.name) return undefined;
  const { Kind, Partition } = (after ?? before) as unknown as {
    readonly Kind: string;
    readonly Partition: string;
  };
  return Kind === 'exported-services' ? Partition : undefined;
}

/**
 * The service whose chain a routing entry belongs to, if the change makes or removes the entry. A
 * name that no service can have is of no concern to peers.
 */
export function chainChange({
  table,
  before,
  after,
}: Change):
  | { readonly partition: string; readonly service: string; readonly by: 1 | -1 }
  | undefined {
  if (table !== configEntries.name || (before !== undefined && after !== undefined))
    return undefined;
  const service = routedBy((after ?? before) as unknown as ConfigEntry);
  const { Partition: partition } = (after ?? before) as unknown as ConfigEntry;
  if (service === undefined) return undefined;
  return { partition, service, by: after === undefined ? -1 : 1 };
}

const routedBy = ({ Kind, Namespace: namespace, Name: name }: ConfigEntry): string | undefined =>
  isRoutingKind(Kind) && isServiceName(name) ? textOfService({ namespace, name }) : undefined;

/** Whether the service has a chain of routing entries. */
export const hasChain = (
  snapshot: Snapshot,
  partition: string,
  { namespace, name }: ServiceKey,
): boolean =>
  isServiceName(name) &&
  routingKinds.some((kind) => snapshot.table(configEntries).has(partition, namespace, kind, name));

/**
 * Services with a chain, as texts, one for each routing entry; `undefined` for an entry that makes
 * no chain.
 */
export function* chainsOf(snapshot: Snapshot, partition: string): Iterable<string | undefined> {
  for (const { Name: namespace } of snapshot.table(namespaces).scan({ prefix: [partition] })) {
    for (const kind of routingKinds) {
      const prefix = [partition, namespace, kind];
      for (const entry of snapshot.table(configEntries).scan({ prefix })) yield routedBy(entry);
    }
  }
}

/** The instances of a service in this cluster. Services of jobs are in the partition `default`. */
export const ownInstances = (snapshot: Snapshot, { namespace, name }: ServiceKey, from?: string) =>
  snapshot.table(serviceRegistrations).scan({
    prefix: [defaultPartition, namespace, name],
    ...(from !== undefined && { from: [defaultPartition, namespace, name, from] }),
  });

/**
 * What this cluster exports, and to whom, as of the newest commit.
 *
 * Invariants
 *  E1. It is derived from the entries, and from which services have an instance or a chain. A new
 *      leader builds it again.
 *  E2. A change of an instance or a routing entry costs two look-ups, however much there is. Compiled
 *      and listed exports are made on demand, and kept until their sources change.
 */
export class Exported {
  readonly #state: State;
  /** The number of instances of each service, by its text. */
  readonly #counts = new Map<string, number>();
  /** The number of routing entries of each service, by partition and text. */
  readonly #chains = new Map<string, Map<string, number>>();
  /** Rises when a service gets its first instance or routing entry, or loses its last. */
  #names = 0;
  readonly #compiled = new Map<string, Map<string, Compiled>>();

  constructor(state: State) {
    this.#state = state;
    const snapshot = state.read();
    for (const row of snapshot.table(serviceRegistrations).scan()) this.#countInstance(row, 1);
    for (const { Name: partition } of snapshot.table(partitions).scan()) {
      for (const text of chainsOf(snapshot, partition)) {
        if (text !== undefined) this.#countService(this.#chainsIn(partition), text, 1);
      }
    }
  }

  /** Follows a commit. */
  follow(changes: readonly Change[]): void {
    for (const change of changes) {
      const { table, before, after } = change;
      if (table === serviceRegistrations.name) {
        if (before === undefined) this.#countInstance(after as ServiceRegistration, 1);
        else if (after === undefined) this.#countInstance(before as ServiceRegistration, -1);
      } else {
        const partition = exportingPartition(change);
        if (partition !== undefined) this.#compiled.delete(partition);
        const chain = chainChange(change);
        if (chain) this.#countService(this.#chainsIn(chain.partition), chain.service, chain.by);
      }
    }
  }

  isExported(service: ServiceKey, to: PeerPlace): boolean {
    return this.#exportsTo(to).exports.isExported(service, this.#hasService(service, to));
  }

  /** All services exported to the peer, as texts, in order. */
  servicesTo(to: PeerPlace): readonly string[] {
    const compiled = this.#exportsTo(to);
    if (compiled.list === undefined || compiled.names !== this.#names) {
      compiled.list = this.#list(compiled.exports, to);
      compiled.names = this.#names;
    }
    return compiled.list;
  }

  /** Drops what is kept for a peering that is gone. */
  forget({ partition, name }: PeerPlace): void {
    this.#compiled.get(partition)?.delete(name);
  }

  #hasService(service: ServiceKey, { partition }: PeerPlace): boolean {
    const text = textOfService(service);
    if (partition === defaultPartition && this.#counts.has(text)) return true;
    return this.#chains.get(partition)?.has(text) === true;
  }

  #list(exports: PeerExports, { partition }: PeerPlace): readonly string[] {
    const listed = new Set(exports.named);
    const found = [
      partition === defaultPartition ? this.#counts : undefined,
      this.#chains.get(partition),
    ];
    for (const services of exports.isOpen ? found : []) {
      for (const text of services?.keys() ?? []) {
        if (exports.isExported(serviceOfText(text), true)) listed.add(text);
      }
    }
    return [...listed].sort();
  }

  #exportsTo({ partition, name }: PeerPlace): Compiled {
    const ofPartition = this.#compiled.get(partition) ?? new Map<string, Compiled>();
    this.#compiled.set(partition, ofPartition);
    const known = ofPartition.get(name);
    if (known !== undefined) return known;
    const entry = exportsEntry(this.#state.read(), partition);
    const exports = new PeerExports(entry, name);
    const compiled: Compiled = { exports, list: undefined, names: this.#names };
    ofPartition.set(name, compiled);
    return compiled;
  }

  #chainsIn(partition: string): Map<string, number> {
    const known = this.#chains.get(partition) ?? new Map<string, number>();
    this.#chains.set(partition, known);
    return known;
  }

  #countInstance({ Namespace: namespace, ServiceName: name }: ServiceRegistration, by: 1 | -1) {
    this.#countService(this.#counts, textOfService({ namespace, name }), by);
  }

  #countService(counts: Map<string, number>, text: string, by: 1 | -1): void {
    const count = (counts.get(text) ?? 0) + by;
    if (count === 0) counts.delete(text);
    else counts.set(text, count);
    if (count === 0 || (count === 1 && by === 1)) this.#names++;
  }
}

interface Compiled {
  readonly exports: PeerExports;
  list: readonly string[] | undefined;
  names: number;
}
