/**
 * Follows redirects and default subsets from a wanted service to the target with its instances.
 *
 * Invariants
 *
 *  S1. A redirect has no effect the second time, so `web` may lead to `web` elsewhere.
 *  S2. A wanted subset is kept as long as the service stays the same.
 *  S3. The peer settles its own targets: no entry of this cluster applies to them.
 */
import { isSameService } from '../config-entry/destination.ts';
import type { FailoverTarget, ServiceResolver } from '../config-entry/service-resolver.ts';
import { limits } from '../limits.ts';
import { type Assembly, ChainRefusal, countPart, factsOf, speak } from './assembly.ts';
import { type ChainTargetName, isSameTarget, targetId, targetWords } from './target-name.ts';

/** A place without a further redirect, and the resolver that applies there. */
export interface Settled {
  readonly place: ChainTargetName;
  readonly resolver: ServiceResolver | undefined;
}

/** @throws ChainRefusal */
export function settle(assembly: Assembly, asked: ChainTargetName): Settled {
  const hops = [asked];
  for (;;) {
    const place = hops.at(-1)!;
    if (place.peer !== '') return { place, resolver: undefined };
    const resolver = resolverOf(assembly, place);
    const next = resolver === undefined ? place : nextTarget(assembly, place, resolver);
    if (isSameTarget(next, place)) {
      if (place.subset !== '') requireSubset(assembly, place, resolver);
      speak(assembly, place);
      return { place, resolver };
    }
    const hasBeen = hops.some((hop) => isSameTarget(hop, next));
    hops.push(next);
    if (hasBeen) throw circular(hops);
    countPart(assembly);
    if (hops.length > limits.discoveryChain.depthMax) throw tooDeep(assembly);
  }
}

function resolverOf(assembly: Assembly, place: ChainTargetName): ServiceResolver | undefined {
  const { resolver, defaults } = factsOf(assembly, place);
  if (resolver !== undefined && defaults?.ExternalSNI) refuseExternal(resolver);
  return resolver;
}

function nextTarget(
  assembly: Assembly,
  place: ChainTargetName,
  resolver: ServiceResolver,
): ChainTargetName {
  const { Redirect, DefaultSubset } = resolver;
  assembly.isDefault = false;
  if (Redirect !== null) {
    const next = elsewhere(place, Redirect);
    if (!isSameTarget(next, place)) {
      const sentence = `${targetWords(place)} is redirected to ${targetWords(next)}.`;
      assembly.note?.(targetId(next), resolver, sentence);
      return next;
    }
  }
  if (place.subset !== '' || DefaultSubset === '') return place;
  const sentence = `"${place.name}" without a subset means the default subset "${DefaultSubset}".`;
  assembly.note?.(targetId(place), resolver, sentence);
  return { ...place, subset: DefaultSubset };
}

/** Empty fields keep the values of `place`. */
export function elsewhere(place: ChainTargetName, target: FailoverTarget): ChainTargetName {
  const partition = target.Partition || place.partition;
  const namespace = target.Namespace || place.namespace;
  const name = target.Service || place.name;
  if (target.Peer !== '') {
    return { partition, namespace, name, subset: '', datacenter: '', peer: target.Peer };
  }
  const isSame = isSameService({ partition, namespace, name }, place);
  const subset = target.ServiceSubset || (isSame ? place.subset : '');
  const datacenter = target.Datacenter || place.datacenter;
  return { partition, namespace, name, subset, datacenter, peer: '' };
}

function requireSubset(
  { request }: Assembly,
  place: ChainTargetName,
  resolver: ServiceResolver | undefined,
): void {
  const { name, subset } = place;
  if (resolver !== undefined && Object.hasOwn(resolver.Subsets, subset)) return;
  // Entries of the chain's service have to change before the subset can be deleted.
  const user = isSameService(place, request.service)
    ? ''
    : `, where the discovery chain "${request.service.name}" leads`;
  throw new ChainRefusal(`service "${name}" does not have a subset named "${subset}"${user}`);
}

/**
 * Refuses subsets, redirects and failover of an external service: the mesh has no instances of it to choose
 * from.
 */
function refuseExternal({ Name, Redirect, Subsets, Failover }: ServiceResolver): void {
  const has = [
    ...(Redirect === null ? [] : ['a redirect']),
    ...(Object.keys(Subsets).length === 0 ? [] : ['subsets']),
    ...(Object.keys(Failover).length === 0 ? [] : ['a failover']),
  ];
  if (has.length === 0) return;
  throw new ChainRefusal(
    `service "${Name}" has an external SNI, so its resolver cannot have ${has.join(' and ')}`,
  );
}

function circular(hops: readonly ChainTargetName[]): ChainRefusal {
  const ids = hops.map((hop) => targetId(hop)).join(' -> ');
  return new ChainRefusal(`detected circular resolver redirect: [${ids}]`);
}

export function tooDeep({ request }: Assembly): ChainRefusal {
  const { depthMax } = limits.discoveryChain;
  return new ChainRefusal(
    `discovery chain "${request.service.name}" has more than ${depthMax} redirects or splitters one after the other`,
  );
}
