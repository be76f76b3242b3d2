/**
 * The listeners and services of a bound gateway, as values that routes are bound to and released from.
 *
 * Invariants
 *
 *  L1. All bound routes are looked through once, however many routes are bound again.
 *  L2. A list without a change stays the same object.
 */
import type { ApiGateway } from './api-gateway.ts';
import type { BoundApiGateway } from './bound-api-gateway.ts';
import type { ServiceName } from './kind.ts';
import { identityOf } from './named-service.ts';
import { type ResourceReference, textOfReference } from './resource-reference.ts';

export interface BoundRoutes {
  /** By name of the listener. Each list is in order, without repetition. */
  readonly listeners: Map<string, readonly ResourceReference[]>;
  /** By the service's `identityOf`. */
  readonly services: Map<string, BoundService>;
}

type BoundService = BoundApiGateway['Services'][number];

export const noRoutes = (gateway: ApiGateway): BoundRoutes => ({
  listeners: new Map(gateway.Listeners.map(({ Name }) => [Name, []])),
  services: new Map(),
});

export const routesOf = ({ Listeners, Services }: BoundApiGateway): BoundRoutes => ({
  listeners: new Map(Listeners.map(({ Name, Routes }) => [Name, Routes])),
  services: new Map(Services.map((service) => [identityOf(service), service])),
});

/** The present bindings of a route. */
export interface Placement {
  readonly route: ResourceReference;
  /** Names of listeners; empty: the route is bound nowhere. */
  readonly listeners: readonly string[];
  /** The services that the route leads to. */
  readonly services: readonly ServiceName[];
}

/** Binds each route as its placement says, and removes its other bindings. Each route is in one placement. */
export function bindAnew({ listeners, services }: BoundRoutes, anew: readonly Placement[]): void {
  const moved = new Map(anew.map((one) => [textOfReference(one.route), one]));
  const names = new Set(anew.map(({ route }) => route.Name));
  // Names are compared first: to make the text of every route would take longer than all the rest.
  const stays = (route: ResourceReference) =>
    !names.has(route.Name) || !moved.has(textOfReference(route));
  for (const [name, routes] of listeners) listeners.set(name, onlyThose(routes, stays));
  for (const [identity, service] of services) {
    const Routes = onlyThose(service.Routes, stays);
    if (Routes !== service.Routes) services.set(identity, { ...service, Routes });
  }
  const inOrder = [...moved].sort(([left], [right]) => (left < right ? -1 : 1));
  const placed = inOrder.map(([, one]) => one).filter((one) => one.listeners.length > 0);
  for (const [name, routes] of routesBy(placed, (one) => one.listeners)) {
    listeners.set(name, merged(listeners.get(name) ?? [], routes));
  }
  const targets = new Map<string, ServiceName>();
  const identities = (one: Placement) =>
    one.services.map((target) => {
      const identity = identityOfName(target);
      targets.set(identity, target);
      return identity;
    });
  for (const [identity, routes] of routesBy(placed, identities)) {
    const { name: Name, namespace: Namespace, partition: Partition } = targets.get(identity)!;
    const Routes = merged(services.get(identity)?.Routes ?? [], routes);
    services.set(identity, { Name, Namespace, Partition, Routes });
  }
  for (const [identity, { Routes }] of services) {
    if (Routes.length === 0) services.delete(identity);
  }
}

const identityOfName = ({ name, namespace, partition }: ServiceName): string =>
  identityOf({ Name: name, Namespace: namespace, Partition: partition });

/** The routes by the texts that `textsOf` gives them, each once, in the given order. */
function routesBy(
  placed: readonly Placement[],
  textsOf: (one: Placement) => readonly string[],
): ReadonlyMap<string, readonly ResourceReference[]> {
  const found = new Map<string, ResourceReference[]>();
  for (const one of placed) {
    for (const text of new Set(textsOf(one))) {
      const routes = found.get(text);
      if (routes === undefined) found.set(text, [one.route]);
      else routes.push(one.route);
    }
  }
  return found;
}

/** In order of partition, namespace and name. */
export const servicesInOrder = ({ services }: BoundRoutes): BoundService[] =>
  [...services.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, one]) => one);

/** The routes that stay; the same list if all stay. */
function onlyThose(
  routes: readonly ResourceReference[],
  stays: (route: ResourceReference) => boolean,
): readonly ResourceReference[] {
  return routes.every(stays) ? routes : routes.filter(stays);
}

/** Merges two ordered lists that have nothing in common. */
function merged(
  routes: readonly ResourceReference[],
  more: readonly ResourceReference[],
): readonly ResourceReference[] {
  if (routes.length === 0) return more;
  const all: ResourceReference[] = [];
  let next = 0;
  for (const route of more) {
    const at = placeOf(routes, textOfReference(route), next);
    while (next < at) all.push(routes[next++]!);
    all.push(route);
  }
  while (next < routes.length) all.push(routes[next++]!);
  return all;
}

/** Where a route with that text belongs in the ordered list, from index `low` on. */
function placeOf(routes: readonly ResourceReference[], text: string, low: number): number {
  let high = routes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (textOfReference(routes[middle]!) < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
