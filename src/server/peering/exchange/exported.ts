import { defaultPartition } from '../../../model/namespace/namespace.ts';
import type { ServiceKey } from '../../../model/peering/exchange.ts';
import {
  type ExportsEntry,
  PeerExports,
  serviceOfText,
  textOfService,
} from '../../../model/peering/exports.ts';
import type { ServiceRegistration } from '../../../model/service-registration/service-registration.ts';
import { configEntries, serviceRegistrations } from '../../../state/tables.ts';
import type { Change, Snapshot, State } from '../../../state/types.ts';

export interface PeerPlace {
  readonly partition: string;
  readonly name: string;
}

/** The entry that says what a partition exports. Source: facts/registry.md §5.11. */
export function exportsEntry(snapshot: Snapshot, partition: string): ExportsEntry | undefined {
  const table = snapshot.table(configEntries);
  const [entry] = table.scan({ prefix: [partition, 'default', 'exported-services', partition] });
  return entry as unknown as ExportsEntry | undefined;
}

/** A change of the entry of a partition, and of which. */
export function exportingPartition({ table, before, after }: Change): string | undefined {
  if (table !== configEntries.name) return undefined;
  const { Kind, Partition } = (after ?? before) as unknown as {
    readonly Kind: string;
    readonly Partition: string;
  };
  return Kind === 'exported-services' ? Partition : undefined;
}

/** The instances of a service, of those of this cluster. Services of jobs live in `default`. */
export const ownInstances = (snapshot: Snapshot, { namespace, name }: ServiceKey, from?: string) =>
  snapshot.table(serviceRegistrations).scan({
    prefix: [defaultPartition, namespace, name],
    ...(from !== undefined && { from: [defaultPartition, namespace, name, from] }),
  });

/**
 * What this cluster exports, and to whom, as of the newest commit.
 *
 * Invariants
 *  E1. It is derived: from the entries, and from which services have an instance. A new leader makes
 *      it anew.
 *  E2. A change of an instance costs two look-ups, whatever there is; what is compiled or listed is
 *      made when it is asked for, and kept until what it is made of changes.
 */
export class Exported {
  readonly #state: State;
  /** How many instances each service has, by its text. */
  readonly #counts = new Map<string, number>();
  /** Rises when a service gets its first instance or loses its last. */
  #names = 0;
  readonly #compiled = new Map<string, Map<string, Compiled>>();

  constructor(state: State) {
    this.#state = state;
    for (const row of state.read().table(serviceRegistrations).scan()) this.#count(row, 1);
  }

  /** Takes in a commit. */
  follow(changes: readonly Change[]): void {
    for (const change of changes) {
      const { table, before, after } = change;
      if (table === serviceRegistrations.name) {
        if (before === undefined) this.#count(after as ServiceRegistration, 1);
        else if (after === undefined) this.#count(before as ServiceRegistration, -1);
      } else {
        const partition = exportingPartition(change);
        if (partition !== undefined) this.#compiled.delete(partition);
      }
    }
  }

  isExported(service: ServiceKey, to: PeerPlace): boolean {
    return this.#of(to).exports.isExported(service, this.#has(service, to));
  }

  /** All services that go to the peer, as texts, in order. */
  servicesTo(to: PeerPlace): readonly string[] {
    const compiled = this.#of(to);
    if (compiled.list === undefined || compiled.names !== this.#names) {
      compiled.list = this.#list(compiled.exports, to);
      compiled.names = this.#names;
    }
    return compiled.list;
  }

  /** The peering is gone: nothing is kept for it. */
  forget({ partition, name }: PeerPlace): void {
    this.#compiled.get(partition)?.delete(name);
  }

  #has(service: ServiceKey, { partition }: PeerPlace): boolean {
    return partition === defaultPartition && this.#counts.has(textOfService(service));
  }

  #list(exports: PeerExports, { partition }: PeerPlace): readonly string[] {
    if (!exports.isOpen || partition !== defaultPartition) return [...exports.named];
    const listed = new Set(exports.named);
    for (const text of this.#counts.keys()) {
      if (exports.isExported(serviceOfText(text), true)) listed.add(text);
    }
    return [...listed].sort();
  }

  #of({ partition, name }: PeerPlace): Compiled {
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

  #count({ Namespace, ServiceName }: ServiceRegistration, by: 1 | -1): void {
    const text = textOfService({ namespace: Namespace, name: ServiceName });
    const count = (this.#counts.get(text) ?? 0) + by;
    if (count === 0) this.#counts.delete(text);
    else this.#counts.set(text, count);
    if (count === 0 || (count === 1 && by === 1)) this.#names++;
  }
}

interface Compiled {
  readonly exports: PeerExports;
  list: readonly string[] | undefined;
  names: number;
}
