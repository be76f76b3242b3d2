/**
 * Services of peers, requested with `peer=`. Their rows have the form of local services, so
 * filters, pages and blocking queries are the same.
 * Source: docs/behaviour/peering.md#imported-services.
 */

import { placeOfPeer, type serviceEndpoints } from '../../contract/service.ts';
import { refusal } from '../../model/errors.ts';
import { everyNamespace } from '../../model/namespace/namespace.ts';
import type { ImportedInstance, ImportedService } from '../../model/peering/imported.ts';
import { importedInstances, importedServices, peerings } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import type { Input, PageStart } from '../route.ts';
import type { InputOf } from '../serve.ts';
import { InstanceFacts } from './service-names.ts';

type ListInput = InputOf<typeof serviceEndpoints.list>;

interface PeerInput extends Pick<ListInput, 'namespace' | 'snapshot' | 'unwatched'> {
  readonly query: Pick<ListInput['query'], 'peer' | 'partition'>;
}

/** The peer of the services. */
export interface Origin {
  readonly partition: string;
  readonly peer: string;
}

/** `undefined`: services of this cluster. @throws RosterError `peering-not-found` */
export function originOf({ query, unwatched }: PeerInput): Origin | undefined {
  if (query.peer === '') return undefined;
  const [partition, peer] = [placeOfPeer(query), query.peer.toLowerCase()];
  if (unwatched.table(peerings).has(partition, peer)) return { partition, peer };
  throw refusal('peering-not-found', { name: peer });
}

/**
 * Each service with the facts of all its instances. `between` is yielded now and then as a pause.
 */
export function* importedNames<T>(
  { partition, peer }: Origin,
  { namespace, snapshot }: Pick<Input, 'namespace' | 'snapshot'>,
  { from, reverse }: PageStart,
  {
    named,
    between,
  }: { readonly named: (service: ImportedService, facts: InstanceFacts) => T; readonly between: T },
): Iterable<T> {
  const range = {
    prefix: namespace === everyNamespace ? [partition, peer] : [partition, peer, namespace],
    ...(from && { from: [partition, peer, ...from] }),
    reverse,
  };
  let seen = 0;
  for (const service of snapshot.table(importedServices).scan(range)) {
    const facts = new InstanceFacts();
    const prefix = [partition, peer, service.Namespace, service.Name];
    for (const instance of snapshot.table(importedInstances).scan({ prefix })) {
      facts.add(instance);
      if (++seen % instancesPerStep === 0) yield between;
    }
    yield named(service, facts);
  }
}

const instancesPerStep = 32;

/** The instances of one service, with `namespace=*` by namespace. */
export function* importedInstancesOf(
  origin: Origin,
  { namespace, parameters, snapshot }: Pick<Input, 'namespace' | 'parameters' | 'snapshot'>,
  page: PageStart,
): Iterable<ImportedInstance> {
  const { partition, peer } = origin;
  const table = snapshot.table(importedInstances);
  const all = namespace === everyNamespace ? namespacesOf(origin, snapshot) : [namespace];
  const first = page.from?.[0];
  const names = page.reverse ? all.reverse() : all;
  for (const name of names) {
    if (first !== undefined && (page.reverse ? name > first : name < first)) continue;
    const from = first === name ? { from: [partition, peer, ...page.from!] } : {};
    const prefix = [partition, peer, name, parameters.service!];
    yield* table.scan({ prefix, ...from, reverse: page.reverse });
  }
}

/** The namespaces of the peer's services, which need not exist here. */
function namespacesOf({ partition, peer }: Origin, snapshot: Snapshot): string[] {
  const table = snapshot.table(importedServices);
  const prefix = [partition, peer];
  const found: string[] = [];
  for (;;) {
    const last = found.at(-1);
    const from = last === undefined ? {} : { from: [...prefix, last, '\uffff'] };
    const next = table.scan({ prefix, ...from }).next();
    if (next.done === true) return found;
    found.push(next.value.Namespace);
  }
}
