/**
 * Rules over all routing entries together: every chain that a change affects is made from the entries after
 * the change. Source: docs/behaviour/discovery.md#checks-of-chains.
 *
 * Invariants
 *
 *  G1. Before the change all chains could be made, so only the chains in which a changed entry has a part
 *      are made again: a write costs what it affects.
 *  G2. An entry has a part in the chain of its own service, and, unless it is a router, in the chains of
 *      all services whose splitters, resolvers and routers lead there.
 *  G3. A change that cannot be checked within bounds is refused.
 */
import { compileChain } from '../discovery-chain/compile.ts';
import { type DiscoveryChain, noOverrides } from '../discovery-chain/discovery-chain.ts';
import { changesProtocol, isHttpLike, protocolOf } from '../discovery-chain/protocol.ts';
import { limits } from '../limits.ts';
import {
  type ConfigEntry,
  type EntryKey,
  everyService,
  isRoutingKind,
  routingKinds,
} from './config-entry.ts';
import type { ExportedServices } from './exported-services.ts';
import type { CrossCheck, EntryView, ServiceName } from './kind.ts';
import { scopeWords } from './scope-words.ts';
import type { ServiceIntentions } from './service-intentions.ts';

/** Names of services, each once. */
class Services {
  readonly #found = new Map<string, ServiceName>();

  /** Returns whether the service is new. */
  add({ partition, namespace, name }: ServiceName): boolean {
    const id = JSON.stringify([partition, namespace, name]);
    if (this.#found.has(id)) return false;
    this.#found.set(id, { partition, namespace, name });
    return true;
  }

  get size(): number {
    return this.#found.size;
  }

  [Symbol.iterator](): Iterator<ServiceName> {
    return this.#found.values();
  }
}

export const checkGraph: CrossCheck = (view, changed) => {
  const chains = new Services();
  const intended = new Services();
  for (const key of changed) gather(view, key, chains, intended);
  const { checkedMax } = limits.discoveryChain;
  if (chains.size > checkedMax) {
    return [`more than ${checkedMax} discovery chains depend on it: change what leads there first`];
  }
  const sentences = new Set<string>();
  const exports = new Map<string, (service: ServiceName) => boolean>();
  for (const service of chains) {
    if (sentences.size >= limits.fault.listedMax) break;
    const sentence = chainFault(view, service, exports);
    if (sentence !== undefined) sentences.add(sentence + whereOf(service, changed));
  }
  for (const service of intended) {
    if (sentences.size >= limits.fault.listedMax) break;
    const sentence = intentionFault(view, service);
    if (sentence !== undefined) sentences.add(sentence + whereOf(service, changed));
  }
  return [...sentences];
};

/** The place of a service, if it differs from the place of the change. */
function whereOf(service: ServiceName, [changed]: readonly EntryKey[]): string {
  const words = changed === undefined ? '' : scopeWords(service, changed);
  return words === '' ? '' : ` (it is${words})`;
}

function gather(view: EntryView, key: EntryKey, chains: Services, intended: Services): void {
  switch (key.kind) {
    case 'service-router':
      chains.add(key);
      break;
    case 'service-splitter':
    case 'service-resolver':
      addWithUsers(view, [key], chains);
      break;
    case 'service-defaults':
      addWithUsers(view, [key], chains);
      intended.add(key);
      break;
    case 'service-intentions':
      intended.add(key);
      break;
    case 'proxy-defaults':
      // Only the protocol has a part in chains and intentions.
      if (!changesProtocol(view, key)) break;
      addEverywhere(view, key.partition, chains);
      for (const entry of view.everywhere(key.partition, 'service-intentions')) {
        intended.add(nameOf(entry));
      }
      break;
    case 'exported-services':
      addExported(view, key, chains);
      break;
  }
}

const nameOf = ({ Partition, Namespace, Name }: ConfigEntry): ServiceName => ({
  partition: Partition,
  namespace: Namespace,
  name: Name,
});

/**
 * Adds the services and all services whose chains lead there. A chain that leads to a service does not pass
 * its router.
 */
function addWithUsers(view: EntryView, services: Iterable<ServiceName>, chains: Services): void {
  const through = new Services();
  for (const service of services) {
    through.add(service);
    chains.add(service);
  }
  for (const one of through) {
    for (const user of view.referrers(one)) {
      if (!isRoutingKind(user.kind)) continue;
      chains.add(user);
      if (user.kind !== 'service-router') through.add(user);
      if (chains.size > limits.discoveryChain.checkedMax) return;
    }
  }
}

/** All services of the partition with routing entries. A service without entries cannot break. */
function addEverywhere(view: EntryView, partition: string, chains: Services): void {
  const entries = routingKinds.flatMap((kind) => [...view.everywhere(partition, kind)]);
  addWithUsers(view, entries.map(nameOf), chains);
}

function addExported(view: EntryView, key: EntryKey, chains: Services): void {
  const { partition } = key;
  const entry = view.get(key) as ExportedServices | undefined;
  for (const { Name, Namespace, Consumers } of entry?.Services ?? []) {
    if (!goesToPeers(Consumers)) continue;
    if (Name !== everyService) {
      chains.add({ partition, namespace: Namespace, name: Name });
      continue;
    }
    for (const kind of routingKinds) {
      for (const routed of view.everywhere(partition, kind)) {
        if (Namespace === everyService || Namespace === routed.Namespace)
          chains.add(nameOf(routed));
      }
    }
  }
}

const goesToPeers = (consumers: readonly { readonly Peer: string }[] | null): boolean =>
  (consumers ?? []).some(({ Peer }) => Peer !== '');

function chainFault(
  view: EntryView,
  service: ServiceName,
  exports: Map<string, (service: ServiceName) => boolean>,
): string | undefined {
  // The datacenter makes no difference to whether a chain can be made.
  const request = { service, datacenter: '', overrides: noOverrides };
  const { chain, refusal } = compileChain(view, request);
  if (chain === undefined) return refusal;
  const way = wayOut(chain);
  if (way === undefined) return undefined;
  let isExported = exports.get(service.partition);
  if (isExported === undefined) {
    isExported = exportedToPeers(view, service.partition);
    exports.set(service.partition, isExported);
  }
  if (!isExported(service)) return undefined;
  return `service "${service.name}" is exported to peers, so its discovery chain cannot lead ${way}`;
}

/**
 * A target of a chain that peers cannot be told of: peers only know instances of this datacenter and
 * partition.
 */
function wayOut({ Targets, Partition }: DiscoveryChain): string | undefined {
  for (const target of Targets.values()) {
    if (target.Peer !== '') return `to the peer "${target.Peer}"`;
    if (target.Datacenter !== '') return `to the datacenter "${target.Datacenter}"`;
    if (target.Partition !== Partition) return `to the partition "${target.Partition}"`;
  }
  return undefined;
}

function exportedToPeers(view: EntryView, partition: string): (service: ServiceName) => boolean {
  const names = new Set<string>();
  const place = { partition, namespace: 'default', kind: 'exported-services' } as const;
  for (const entry of view.list(place) as Iterable<ExportedServices>) {
    for (const { Name, Namespace, Consumers } of entry.Services ?? []) {
      if (goesToPeers(Consumers)) names.add(JSON.stringify([Namespace, Name]));
    }
  }
  return ({ namespace, name }) =>
    [
      [namespace, name],
      [namespace, everyService],
      [everyService, everyService],
    ].some((exported) => names.has(JSON.stringify(exported)));
}

function intentionFault(view: EntryView, service: ServiceName): string | undefined {
  const { partition, namespace, name } = service;
  const key = { partition, namespace, name, kind: 'service-intentions' } as const;
  const intentions = view.get(key) as ServiceIntentions | undefined;
  if (!intentions?.Sources?.some(({ Permissions }) => Permissions !== null)) return undefined;
  const { protocol } = protocolOf(view, service);
  if (isHttpLike(protocol)) return undefined;
  return `service "${name}" has the protocol "${protocol}", which is incompatible with L7 intentions permissions`;
}
