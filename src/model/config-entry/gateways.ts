/**
 * Writes everything that follows from API gateways, their routes and certificates: the `bound-api-gateway` of
 * each gateway, the `Status` of gateways and routes, and the details of certificates.
 * Source: docs/behaviour/gateways.md#status.
 *
 * Invariants
 *
 *  B1. The rows are those that a computation from scratch would write, except the times of conditions
 *      that did not change (a property test compares the two).
 *  B2. A write costs what it affects: a route affects its own gateways, a gateway its own routes (if a
 *      change of its listeners matters to them), a certificate the gateways that name it, a protocol the
 *      routes that lead to the service (if it changes whether requests can be routed there).
 *  B3. There is a bound gateway for each gateway, and no other.
 *  B4. `Status` and `Details` of a request are ignored.
 */

import { changesRouting } from '../discovery-chain/protocol.ts';
import { isSame } from '../same.ts';
import type { ApiGateway, GatewayListener } from './api-gateway.ts';
import type { BoundApiGateway } from './bound-api-gateway.ts';
import {
  type BoundRoutes,
  bindAnew,
  noRoutes,
  type Placement,
  routesOf,
  servicesInOrder,
} from './bound-listeners.ts';
import { detailsOf } from './certificate-text.ts';
import type { ConfigEntry, EntryKey } from './config-entry.ts';
import { type Certificates, certificatesOf, findingsOf } from './gateway-findings.ts';
import { type Finding, statusOf } from './gateway-status.ts';
import type { InlineCertificate } from './inline-certificate.ts';
import type { Consequence, EntryView } from './kind.ts';
import { keyOfReference, referenceTo, textOfKey } from './resource-reference.ts';
import { outcomeOf, type Route, type RouteOutcome } from './route-bindings.ts';

/** Keys, each once, in the order of their arrival. */
class Keys {
  readonly #keys = new Map<string, EntryKey>();

  add(key: EntryKey): void {
    const text = textOfKey(key);
    if (!this.#keys.has(text)) this.#keys.set(text, key);
  }

  has(key: EntryKey): boolean {
    return this.#keys.has(textOfKey(key));
  }

  get isEmpty(): boolean {
    return this.#keys.size === 0;
  }

  [Symbol.iterator](): Iterator<EntryKey> {
    return this.#keys.values();
  }
}

/** The parts that a write affects. */
interface Affected {
  /** Gateways all of whose routes are bound again. */
  readonly rebuilt: Keys;
  /** Gateways whose findings are made again, and their bindings of routes in `bindings`. */
  readonly gateways: Keys;
  /** Routes whose bindings are made again; these change gateways. */
  readonly bindings: Keys;
  /** Routes whose findings are made again. */
  readonly routes: Keys;
  readonly certificates: Keys;
}

export const bindGateways: Consequence = (view, changed, now) => {
  const affected = affectedBy(view, changed);
  const puts: ConfigEntry[] = [];
  const removals: EntryKey[] = [];
  const outcomes = new Map<string, RouteOutcome>();
  const outcome = (key: EntryKey, route: Route): RouteOutcome => {
    const text = textOfKey(key);
    let found = outcomes.get(text);
    if (found === undefined) {
      found = outcomeOf(route, view);
      outcomes.set(text, found);
    }
    return found;
  };
  const described = new Map<string, InlineCertificate>();
  for (const key of affected.certificates) {
    const certificate = view.get(key) as InlineCertificate | undefined;
    if (certificate === undefined) continue;
    const whole = { ...certificate, Details: detailsOf(certificate.Certificate) ?? null };
    described.set(textOfKey(key), whole);
    puts.push(whole);
  }
  for (const key of affected.gateways) {
    const boundKey: EntryKey = { ...key, kind: 'bound-api-gateway' };
    const gateway = view.get(key) as ApiGateway | undefined;
    const old = view.get(boundKey) as BoundApiGateway | undefined;
    if (gateway === undefined) {
      if (old !== undefined) removals.push(boundKey);
      continue;
    }
    const isRebuilt = old === undefined || affected.rebuilt.has(key);
    const bound = isRebuilt ? noRoutes(gateway) : routesOf(old);
    const routes = isRebuilt ? view.namers(key) : affected.bindings;
    bindAnew(bound, placementsAt(key, routes, view, outcome));
    const certificates = (listener: GatewayListener) => certificatesOf(listener, view, described);
    puts.push(boundGateway(gateway, bound, certificates));
    const findings = findingsOf(key, gateway, bound, certificates);
    puts.push(...toldOf(gateway, findings, now));
  }
  for (const key of affected.routes) {
    const route = view.get(key) as Route | undefined;
    if (route === undefined) continue;
    const { findings } = outcome(key, route);
    puts.push(...toldOf(route, findings, now));
  }
  return { puts, removals };
};

/** The entry with these findings as its status; none if it has that status already. */
function toldOf<E extends ApiGateway | Route>(
  entry: E,
  findings: readonly Finding[],
  now: string,
): readonly E[] {
  const Status = statusOf(findings, entry.Status, now);
  return Status === entry.Status ? [] : [{ ...entry, Status }];
}

function affectedBy(view: EntryView, changed: readonly EntryKey[]): Affected {
  const affected: Affected = {
    rebuilt: new Keys(),
    gateways: new Keys(),
    bindings: new Keys(),
    routes: new Keys(),
    certificates: new Keys(),
  };
  for (const key of changed) {
    switch (key.kind) {
      case 'api-gateway':
        affected.gateways.add(key);
        if (!changesBinding(view, key)) break;
        affected.rebuilt.add(key);
        for (const namer of view.namers(key)) if (isRoute(namer)) affected.routes.add(namer);
        break;
      case 'http-route':
      case 'tcp-route':
        affected.bindings.add(key);
        break;
      case 'inline-certificate':
        affected.certificates.add(key);
        addUsers(view, key, affected);
        break;
      case 'file-system-certificate':
        addUsers(view, key, affected);
        break;
      case 'service-defaults':
        if (!changesRouting(view, key)) break;
        for (const user of view.referrers(key)) if (isRoute(user)) affected.bindings.add(user);
        break;
      case 'proxy-defaults':
        if (!changesRouting(view, key)) break;
        for (const user of view.namers(key)) if (isRoute(user)) affected.bindings.add(user);
        break;
    }
  }
  for (const key of affected.bindings) {
    affected.routes.add(key);
    for (const route of [view.before(key), view.get(key)] as (Route | undefined)[]) {
      for (const parent of route?.Parents ?? []) affected.gateways.add(keyOfReference(parent));
    }
  }
  return affected;
}

/** Whether the listeners differ in a field that matters to routes. */
function changesBinding(view: EntryView, key: EntryKey): boolean {
  const [before, now] = [view.before(key), view.get(key)].map((entry) =>
    (entry as ApiGateway | undefined)?.Listeners.map(({ Name, Protocol, Hostname }) => [
      Name,
      Protocol,
      Hostname,
    ]),
  );
  return before === undefined || now === undefined || !isSame(before, now);
}

const isRoute = ({ kind }: EntryKey): boolean => kind === 'http-route' || kind === 'tcp-route';

function addUsers(view: EntryView, certificate: EntryKey, affected: Affected): void {
  for (const user of view.namers(certificate)) {
    if (user.kind === 'api-gateway') affected.gateways.add(user);
  }
}

/** The listeners of the gateway that each route is bound to; empty for a deleted route. */
function placementsAt(
  gateway: EntryKey,
  keys: Iterable<EntryKey>,
  view: EntryView,
  outcome: (key: EntryKey, route: Route) => RouteOutcome,
): Placement[] {
  const text = textOfKey(gateway);
  const placements: Placement[] = [];
  for (const key of keys) {
    if (!isRoute(key)) continue;
    const route = view.get(key) as Route | undefined;
    const found = route && outcome(key, route);
    const here = found?.bindings.filter((binding) => textOfKey(binding.gateway) === text) ?? [];
    placements.push({
      route: referenceTo(key),
      listeners: here.flatMap(({ listeners }) => listeners),
      services: found?.services ?? [],
    });
  }
  return placements;
}

function boundGateway(
  gateway: ApiGateway,
  bound: BoundRoutes,
  certificates: Certificates,
): BoundApiGateway {
  const { Name, Namespace, Partition, Listeners } = gateway;
  return {
    Kind: 'bound-api-gateway',
    Name,
    Namespace,
    Partition,
    Meta: null,
    Listeners: Listeners.map((listener) => ({
      Name: listener.Name,
      Routes: bound.listeners.get(listener.Name) ?? [],
      Certificates: certificates(listener).found.map((key) => referenceTo(key)),
    })),
    Services: servicesInOrder(bound),
    CreateIndex: 0,
    ModifyIndex: 0,
  };
}
