/**
 * The listeners and services of a bound gateway as values that one route at a time is taken out of
 * and put into, so that a route costs what it is bound to and not what else there is.
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

export function takeOut({ listeners, services }: BoundRoutes, route: ResourceReference): void {
  for (const [name, routes] of listeners) listeners.set(name, without(routes, route));
  for (const [identity, service] of services) {
    const Routes = without(service.Routes, route);
    if (Routes.length === 0) services.delete(identity);
    else if (Routes !== service.Routes) services.set(identity, { ...service, Routes });
  }
}

export function putIn(
  { listeners, services }: BoundRoutes,
  route: ResourceReference,
  names: readonly string[],
  targets: readonly ServiceName[],
): void {
  if (names.length === 0) return;
  for (const name of names) listeners.set(name, withRoute(listeners.get(name) ?? [], route));
  for (const { partition: Partition, namespace: Namespace, name: Name } of targets) {
    const identity = identityOf({ Name, Namespace, Partition });
    const Routes = withRoute(services.get(identity)?.Routes ?? [], route);
    services.set(identity, { Name, Namespace, Partition, Routes });
  }
}

/** In order of partition, namespace and name. */
export const servicesInOrder = ({ services }: BoundRoutes): BoundService[] =>
  [...services.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, one]) => one);

const isSameRoute = (left: ResourceReference, right: ResourceReference): boolean =>
  left.Name === right.Name &&
  left.Kind === right.Kind &&
  left.Namespace === right.Namespace &&
  left.Partition === right.Partition;

/** The very list where the route is not in it. */
function without(
  routes: readonly ResourceReference[],
  route: ResourceReference,
): readonly ResourceReference[] {
  const index = routes.findIndex((one) => isSameRoute(one, route));
  return index < 0 ? routes : routes.toSpliced(index, 1);
}

function withRoute(
  routes: readonly ResourceReference[],
  route: ResourceReference,
): readonly ResourceReference[] {
  const text = textOfReference(route);
  let low = 0;
  let high = routes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (textOfReference(routes[middle]!) < text) low = middle + 1;
    else high = middle;
  }
  const there = routes[low];
  if (there !== undefined && isSameRoute(there, route)) return routes;
  return routes.toSpliced(low, 0, route);
}
