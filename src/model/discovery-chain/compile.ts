/**
 * Compiles the discovery chain of a service from its routing entries. Pure: the same entries and request give
 * the same chain. Source: docs/behaviour/discovery.md#chains.
 *
 * Invariants
 *
 *  C1. A chain is router, then splitter, then resolver. A router or splitter is there only if an entry
 *      asks for it; every way ends in a resolver.
 *  C2. A router has a part only at the start: the destination of a route is split and resolved, not
 *      routed again.
 *  C3. No splitter leads to a splitter, and the weights of a splitter add up to 100.
 *  C4. Every node can be reached from `StartNode`, and every target from a node.
 *  C5. All services of the chain in this cluster have the same protocol.
 *  C6. Compilation ends: circles of entries, and chains that are too deep or too wide, are refused in a
 *      sentence.
 */
import { complete } from '../complete.ts';
import { destinationOf } from '../config-entry/destination.ts';
import type { EntryView, ServiceName } from '../config-entry/kind.ts';
import {
  RouteDestinationSchema,
  RouteHttpMatchSchema,
  type ServiceRoute,
  type ServiceRouter,
} from '../config-entry/service-router.ts';
import {
  type Assembly,
  beginAssembly,
  ChainRefusal,
  type ChainRequest,
  countPart,
  factsOf,
  routerId,
  speak,
  spelledOut,
} from './assembly.ts';
import { customizationHash } from './customization.ts';
import type {
  ChainNode,
  ChainRoute,
  ChainStep,
  ChainTarget,
  DiscoveryChain,
} from './discovery-chain.ts';
import { isHttpLike } from './protocol.ts';
import { resolverNode } from './resolver-stage.ts';
import { anywhereOf, splitterOrResolver } from './splitter-stage.ts';
import { serviceId } from './target-name.ts';

export type { ChainRequest } from './assembly.ts';

/** The chain, or the reason that there is none: a sentence without its full stop. */
export type Compiled =
  | { readonly chain: DiscoveryChain; readonly refusal?: undefined }
  | { readonly chain?: undefined; readonly refusal: string };

/** If `steps` is given, it receives the decisions in the order in which they were made. */
export function compileChain(
  view: EntryView,
  request: ChainRequest,
  steps?: ChainStep[],
): Compiled {
  const assembly = beginAssembly(view, request, steps);
  try {
    const StartNode = startNode(assembly);
    return { chain: finish(assembly, StartNode) };
  } catch (error) {
    if (!(error instanceof ChainRefusal)) throw error;
    assembly.note?.('', undefined, `There is no chain: ${error.message}.`);
    return { refusal: error.message };
  }
}

function startNode(assembly: Assembly): string {
  const { view, request } = assembly;
  const { service, overrides } = request;
  const { protocol } = factsOf(assembly, service);
  if (!isHttpLike(protocol)) {
    refuseRouting(assembly, protocol);
    return resolverNode(assembly, anywhereOf(assembly, service));
  }
  const wanted = overrides.OverrideProtocol;
  if (wanted !== '' && !isHttpLike(wanted)) {
    const sentence = `The request wants ${wanted}, in which nothing is routed or split.`;
    assembly.note?.('', undefined, sentence);
    return resolverNode(assembly, anywhereOf(assembly, service));
  }
  const router = view.get({ ...keyOf(service), kind: 'service-router' });
  if (router === undefined) return splitterOrResolver(assembly, service);
  return routerNode(assembly, service, router as ServiceRouter);
}

const keyOf = ({ partition, namespace, name }: ServiceName) => ({ partition, namespace, name });

function refuseRouting({ view, request }: Assembly, protocol: string): void {
  const key = keyOf(request.service);
  const kinds = (['service-router', 'service-splitter'] as const).filter(
    (kind) => view.get({ ...key, kind }) !== undefined,
  );
  if (kinds.length === 0) return;
  throw new ChainRefusal(
    `discovery chain "${key.name}" uses a protocol "${protocol}" that does not permit advanced routing or splitting behavior, and has a ${kinds.join(' and a ')}, which takes a Protocol such as "http" in service-defaults "${key.name}" or proxy-defaults`,
  );
}

function routerNode(assembly: Assembly, service: ServiceName, router: ServiceRouter): string {
  const id = routerId(service);
  assembly.isDefault = false;
  speak(assembly, service);
  const Routes: ChainRoute[] = [];
  for (const Definition of router.Routes ?? []) {
    countPart(assembly);
    const route = routeTo(assembly, router, Definition);
    Routes.push(route);
    assembly.note?.(id, router, `Route ${Routes.length} leads to ${route.NextNode}.`);
  }
  const NextNode = splitterOrResolver(assembly, service);
  Routes.push({ Definition: everythingElse(service.name), NextNode });
  assembly.note?.(id, undefined, `All other requests go to ${NextNode}.`);
  const node: ChainNode = {
    Type: 'router',
    Name: serviceId(service),
    Routes,
    Splits: null,
    Resolver: null,
    LoadBalancer: null,
  };
  assembly.nodes.set(id, node);
  return id;
}

/** A route that names a subset leads to its resolver: the traffic is not split again. */
function routeTo(assembly: Assembly, router: ServiceRouter, route: ServiceRoute): ChainRoute {
  const destination = route.Destination ?? toItself;
  const service = destinationOf(router, destination);
  const Definition = { ...route, Destination: spelledOut(assembly, destination, service) };
  const subset = destination.ServiceSubset;
  const NextNode =
    subset === ''
      ? splitterOrResolver(assembly, service)
      : resolverNode(assembly, anywhereOf(assembly, service, subset));
  return { Definition, NextNode };
}

const toItself = complete(RouteDestinationSchema, {});
const everyPath = complete(RouteHttpMatchSchema, { PathPrefix: '/' });

const everythingElse = (name: string): ServiceRoute => ({
  Match: { HTTP: everyPath },
  Destination: { ...toItself, Service: name },
});

function finish(assembly: Assembly, StartNode: string): DiscoveryChain {
  const { request, spoken } = assembly;
  const { service, overrides } = request;
  const { protocol: own, defaults } = factsOf(assembly, service);
  const protocol = spoken?.protocol ?? own;
  const nodes = reachable(assembly, StartNode);
  return {
    ServiceName: service.name,
    Namespace: service.namespace,
    Partition: service.partition,
    Datacenter: request.datacenter,
    CustomizationHash: customizationHash(overrides, protocol),
    Default: assembly.isDefault,
    Protocol: overrides.OverrideProtocol || protocol,
    ServiceMeta: defaults?.Meta ?? null,
    StartNode,
    Nodes: nodes,
    Targets: targetsOf(assembly, nodes),
  };
}

/**
 * The nodes that can be reached. Splitters that became part of other splitters, and nodes that only they led
 * to, are left out.
 */
function reachable({ nodes }: Assembly, start: string): ReadonlyMap<string, ChainNode> {
  const found = new Map([[start, nodes.get(start)!]]);
  // The loop also visits nodes that are added on the way, in the order of the traffic.
  for (const { Routes, Splits } of found.values()) {
    for (const { NextNode } of Routes ?? Splits ?? []) {
      if (!found.has(NextNode)) found.set(NextNode, nodes.get(NextNode)!);
    }
  }
  return found;
}

function targetsOf({ targets }: Assembly, nodes: ReadonlyMap<string, ChainNode>) {
  const used = new Map<string, ChainTarget>();
  for (const { Resolver } of nodes.values()) {
    if (Resolver === null) continue;
    for (const id of [Resolver.Target, ...(Resolver.Failover?.Targets ?? [])]) {
      used.set(id, targets.get(id)!);
    }
  }
  return used;
}
