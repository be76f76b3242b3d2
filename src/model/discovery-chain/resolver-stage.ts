import { formatDuration, seconds } from '../../base/duration.ts';
import {
  everySubset,
  type Failover,
  type FailoverTarget,
  type ServiceResolver,
} from '../config-entry/service-resolver.ts';
import { type Assembly, countPart, factsOf, nodeId } from './assembly.ts';
import type { ChainNode, ChainTarget } from './discovery-chain.ts';
import { proxyDefaultsOf } from './protocol.ts';
import { elsewhere, type Settled, settle } from './settle.ts';
import {
  type ChainTargetName,
  isSameTarget,
  serviceId,
  targetId,
  targetWords,
} from './target-name.ts';

/** The timeout if no resolver names one. Source: docs/behaviour/discovery.md#resolvers. */
const connectTimeoutDefault = seconds(5);

/**
 * Adds the node of the instances of the place. Returns its name.
 * @throws ChainRefusal
 */
export function resolverNode(assembly: Assembly, asked: ChainTargetName): string {
  const { place, resolver } = settle(assembly, asked);
  const Name = targetId(place, idOf(assembly, place));
  const id = nodeId('resolver', Name);
  if (assembly.nodes.has(id)) return id;
  countPart(assembly);
  if (resolver !== undefined) assembly.isDefault = false;
  const target = ensureTarget(assembly, { place, resolver }, Name);
  const node: ChainNode = {
    Type: 'resolver',
    Name,
    Routes: null,
    Splits: null,
    Resolver: {
      Default: resolver === undefined,
      ConnectTimeout: target.ConnectTimeout,
      RequestTimeout: resolver?.RequestTimeout ?? 0,
      Target: target.ID,
      Failover: failoverOf(assembly, place, resolver),
    },
    LoadBalancer: resolver?.LoadBalancer ?? null,
  };
  assembly.nodes.set(id, node);
  assembly.note?.(id, resolver, resolverSentence(place, node, resolver, assembly));
  return id;
}

function resolverSentence(
  place: ChainTargetName,
  { Resolver }: ChainNode,
  resolver: ServiceResolver | undefined,
  { request }: Assembly,
): string {
  const who = `Instances of ${targetWords(place)} are taken`;
  const timeout = formatDuration(Resolver!.ConnectTimeout);
  let why = 'by default';
  if (request.overrides.OverrideConnectTimeout > 0) why = 'as the request wants';
  else if (resolver !== undefined && resolver.ConnectTimeout > 0) why = 'as the resolver says';
  const more = Resolver!.Failover?.Targets ?? [];
  const failover = more.length === 0 ? '' : `; if none is well, ${more.join(', then ')}`;
  return `${who}, with ${timeout} to connect ${why}${failover}.`;
}

/** The failover targets of the place, each once, without the place itself. */
function failoverOf(
  assembly: Assembly,
  place: ChainTargetName,
  resolver: ServiceResolver | undefined,
): { readonly Targets: readonly string[]; readonly Policy: Failover['Policy'] } | null {
  const failover =
    resolver?.Failover[place.subset || everySubset] ?? resolver?.Failover[everySubset];
  if (failover === undefined) return null;
  const ids = new Set<string>();
  for (const wanted of failoverTargets(failover)) {
    countPart(assembly);
    const settled = settle(assembly, elsewhere(place, wanted));
    if (isSameTarget(settled.place, place)) continue;
    const id = targetId(settled.place, idOf(assembly, settled.place));
    ids.add(ensureTarget(assembly, settled, id).ID);
  }
  return ids.size === 0 ? null : { Targets: [...ids], Policy: failover.Policy };
}

function failoverTargets(failover: Failover): readonly FailoverTarget[] {
  const { Service, ServiceSubset, Namespace, Targets, Datacenters } = failover;
  if (Targets !== null) return Targets;
  const own = { Service, ServiceSubset, Namespace, Partition: '', Peer: '' };
  return (Datacenters ?? ['']).map((Datacenter) => ({ ...own, Datacenter }));
}

function ensureTarget(assembly: Assembly, { place, resolver }: Settled, ID: string): ChainTarget {
  const known = assembly.targets.get(ID);
  if (known !== undefined) return known;
  const { overrides } = assembly.request;
  // A target at a peer is not a service of this cluster.
  const facts = place.peer === '' ? factsOf(assembly, place) : undefined;
  const externalSni = facts?.defaults?.ExternalSNI ?? '';
  const gatewayMode = overrides.OverrideMeshGateway.Mode || facts?.gatewayMode;
  const Name = `${ID}.internal`;
  const target: ChainTarget = {
    ID,
    Service: place.name,
    ServiceSubset: place.subset,
    Namespace: place.namespace,
    Partition: place.partition,
    Datacenter: place.datacenter,
    Peer: place.peer,
    // A target outside of the mesh has no gateway.
    MeshGateway: { Mode: externalSni === '' ? (gatewayMode ?? peerMode(assembly, place)) : '' },
    Subset: resolver?.Subsets[place.subset] ?? { Filter: '', OnlyPassing: false },
    ConnectTimeout:
      overrides.OverrideConnectTimeout || resolver?.ConnectTimeout || connectTimeoutDefault,
    External: externalSni !== '',
    SNI: externalSni || Name,
    Name,
  };
  assembly.targets.set(ID, target);
  return target;
}

const idOf = (assembly: Assembly, place: ChainTargetName): string =>
  place.peer === '' ? factsOf(assembly, place).id : serviceId(place);

/** The gateway to peers is the gateway of all proxies. */
const peerMode = ({ view }: Assembly, { partition }: ChainTargetName): string =>
  proxyDefaultsOf(view, partition)?.MeshGateway.Mode ?? '';
