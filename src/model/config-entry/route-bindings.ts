/**
 * The result for a route: whether it is accepted, and the listeners that it is bound to. Pure; it depends
 * only on the route, the gateways that it names and the protocols of its services.
 * Source: docs/behaviour/gateways.md#status.
 */
import { isHttpLike, protocolOf } from '../discovery-chain/protocol.ts';
import type { ApiGateway, GatewayListener } from './api-gateway.ts';
import type { EntryKey } from './config-entry.ts';
import { type Finding, finding, findingAbout } from './gateway-status.ts';
import { acceptsHost } from './hostname.ts';
import { type HttpRoute, httpRoute } from './http-route.ts';
import type { EntryView, ServiceName } from './kind.ts';
import { keyOfReference } from './resource-reference.ts';
import type { RouteParent } from './route-parents.ts';
import { type TcpRoute, tcpRoute } from './tcp-route.ts';

export type Route = HttpRoute | TcpRoute;

const isHttp = (route: Route): route is HttpRoute => route.Kind === 'http-route';

const servicesOf = (route: Route): readonly ServiceName[] =>
  (isHttp(route) ? httpRoute.services?.(route) : tcpRoute.services?.(route)) ?? [];

/** A parent of a route, and the names of its listeners that the route is bound to, in their order. */
export interface Binding {
  readonly gateway: EntryKey;
  readonly listeners: readonly string[];
}

export interface RouteOutcome {
  /** The services that the route leads to. */
  readonly services: readonly ServiceName[];
  readonly findings: readonly Finding[];
  readonly bindings: readonly Binding[];
}

export function outcomeOf(route: Route, view: EntryView): RouteOutcome {
  const services = servicesOf(route);
  const fault = faultOf(route, services, view);
  const findings: Finding[] = [
    fault ?? finding('Accepted', true, 'Accepted', 'The route is accepted.'),
  ];
  const bindings: Binding[] = [];
  for (const parent of route.Parents) {
    const gateway = keyOfReference(parent);
    const attempt = bind(route, parent, view.get(gateway) as ApiGateway | undefined, fault);
    findings.push(attempt.finding);
    bindings.push({ gateway, listeners: attempt.listeners });
  }
  return { services, findings, bindings };
}

/** The reason that the route is not accepted. */
function faultOf(
  route: Route,
  services: readonly ServiceName[],
  view: EntryView,
): Finding | undefined {
  if (services.length === 0) {
    const message = 'The route names no service.';
    return finding('Accepted', false, 'NoUpstreamServicesTargeted', message);
  }
  // A tcp-route can lead to services of any protocol, an http-route only to services that speak HTTP.
  if (!isHttp(route)) return undefined;
  const [service] = notHttp(services, view);
  if (service === undefined) return undefined;
  const { protocol } = protocolOf(view, service);
  const message = `The service "${service.name}" speaks ${protocol}, and an http-route leads to http, http2 or grpc.`;
  return finding('Accepted', false, 'InvalidDiscoveryChain', message);
}

/** The services of the route that do not speak HTTP. */
export const servicesNotHttp = (route: HttpRoute, view: EntryView): readonly ServiceName[] =>
  notHttp(servicesOf(route), view);

const notHttp = (services: readonly ServiceName[], view: EntryView): readonly ServiceName[] =>
  services.filter((service) => !isHttpLike(protocolOf(view, service).protocol));

interface Attempt {
  readonly finding: Finding;
  readonly listeners: readonly string[];
}

function bind(
  route: Route,
  parent: RouteParent,
  gateway: ApiGateway | undefined,
  fault: Finding | undefined,
): Attempt {
  const failed = (message: string): Attempt => ({
    finding: findingAbout(parent, finding('Bound', false, 'FailedToBind', message)),
    listeners: [],
  });
  if (gateway === undefined) {
    const message = `There is no api-gateway "${parent.Name}".`;
    const told = finding('Bound', false, 'GatewayNotFound', message);
    return { finding: findingAbout(parent, told), listeners: [] };
  }
  if (fault !== undefined) return failed(`The route is not accepted. ${fault.Message}`);
  const { SectionName } = parent;
  const wanted = gateway.Listeners.filter(({ Name }) => SectionName === '' || Name === SectionName);
  if (wanted.length === 0) return failed(`The gateway has no listener "${SectionName}".`);
  const refusals = wanted.map((listener) => refusalOf(route, listener));
  const listeners = wanted.filter((_, index) => refusals[index] === undefined);
  if (listeners.length === 0) return failed(refusals.join(' '));
  const names = listeners.map(({ Name }) => Name);
  const which = names.map((name) => `"${name}"`).join(', ');
  const message = `The route is bound to ${names.length === 1 ? 'the listener' : 'the listeners'} ${which}.`;
  const told = finding('Bound', true, 'Bound', message);
  return { finding: findingAbout(parent, told), listeners: names };
}

/** The reason that the listener does not accept the route. */
function refusalOf(
  route: Route,
  { Name, Protocol, Hostname }: GatewayListener,
): string | undefined {
  const wanted = isHttp(route) ? 'http' : 'tcp';
  if (Protocol !== wanted)
    return `The listener "${Name}" speaks ${Protocol}, and the route ${wanted}.`;
  if (!isHttp(route) || route.Hostnames.length === 0) return undefined;
  if (route.Hostnames.some((host) => acceptsHost(Hostname, host))) return undefined;
  return `The listener "${Name}" accepts ${Hostname}, and none of the hosts of the route.`;
}
