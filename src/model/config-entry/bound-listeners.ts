/**
 * The listeners and services of a bound gateway as values that routes are taken out of and put into.
 *
 * Invariants
 *  L1. However many routes are bound anew, all that is bound is looked through once.
 *  L2. A list in which nothing changed stays the very list.
 */
import type { ApiGateway } from './api-gateway.ts';
import type { BoundApiGateway } from './bound-api-gateway.ts';
import type { ServiceName } from './kind.ts';
import { identityOf } from './named-service.ts';
import { type ResourceReference, textOfReference } from './resource-reference.ts';

export interface BoundRoutes {
  /** By the name of the listener. Each list in order, without repetition. */
  readonly listeners: Map<string, readonly ResourceReference[]>;
  /** By `identityOf` the service. */
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

/** Where a route is bound now. */
export interface Placement {
  readonly route: ResourceReference;
  /** Names of listeners; none: it is bound nowhere. */
  readonly listeners: readonly string[];
  /** Where it leads from there. */
  readonly services: readonly ServiceName[];
}

/** Binds the routes where their placements say, and nowhere else. Each route is in one placement. */
export function bindAnew({ listeners, services }: BoundRoutes, anew: readonly Placement[]): void {
  const moved = new Map(anew.map((one) => [textOfReference(one.route), one]));
  const names = new Set(anew.map(({ route }) => route.Name));
  // Names first: to make the text of each route that there is would take longer than all the rest.
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

/** The routes by what `textsOf` says of them, each once, in the order in which they come. */
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

/** The very list where all stay. */
function onlyThose(
  routes: readonly ResourceReference[],
  stays: (route: ResourceReference) => boolean,
): readonly ResourceReference[] {
  return routes.every(stays) ? routes : routes.filter(stays);
}

/** Two lists in order, which have nothing in common, as one. */
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

/** Where a route of that text belongs, from `low` on. */
function placeOf(routes: readonly ResourceReference[], text: string, low: number): number {
  let high = routes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (textOfReference(routes[middle]!) < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
