/**
 * What comes of API gateways, their routes and certificates: the `bound-api-gateway` of each gateway,
 * the `Status` of gateways and routes, and what certificates say. Source: facts/registry.md §5.9, §5.10.
 *
 * Invariants
 *  B1. What is written is what finding all out anew would write, but for the times of conditions
 *      that did not change (a property test holds the two against each other).
 *  B2. A write costs what it affects: a route its own gateways, a gateway its own routes, a
 *      certificate the gateways that name it, a protocol the routes that lead to the service.
 *  B3. There is a bound gateway for each gateway, and no other one.
 *  B4. What a caller sent as `Status` or `Details` has no part in it.
 */

import { changesProtocol } from '../discovery-chain/protocol.ts';
import type { ApiGateway, GatewayListener } from './api-gateway.ts';
import type { BoundApiGateway } from './bound-api-gateway.ts';
import {
  type BoundRoutes,
  noRoutes,
  putIn,
  routesOf,
  servicesInOrder,
  takeOut,
} from './bound-listeners.ts';
import { detailsOf } from './certificate-text.ts';
import type { ConfigEntry, EntryKey } from './config-entry.ts';
import { type Finding, finding, statusOf } from './gateway-status.ts';
import type { InlineCertificate } from './inline-certificate.ts';
import type { Consequence, EntryView } from './kind.ts';
import { keyOfReference, referenceTo, textOfKey } from './resource-reference.ts';
import { outcomeOf, type Route, type RouteOutcome, servicesOf } from './route-bindings.ts';

/** Keys, each once, in the order in which they came. */
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

/** What has to be found out anew. */
interface Affected {
  /** All that is bound to them. */
  readonly rebuilt: Keys;
  /** What is said of them, and what of `bindings` is bound to them. */
  readonly gateways: Keys;
  /** To which listeners they are bound: gateways change by it. */
  readonly bindings: Keys;
  /** What is said of them. */
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
    for (const route of isRebuilt ? view.namers(key) : affected.bindings) {
      place(bound, key, route, view, outcome);
    }
    const certificates = (listener: GatewayListener) => certificatesOf(listener, view, described);
    puts.push(boundGateway(gateway, bound, certificates));
    const findings = findingsOf(key, gateway, bound, certificates);
    const told: ApiGateway = { ...gateway, Status: statusOf(findings, gateway.Status, now) };
    puts.push(told);
  }
  for (const key of affected.routes) {
    const route = view.get(key) as Route | undefined;
    if (route === undefined) continue;
    const { findings } = outcome(key, route);
    const told: Route = { ...route, Status: statusOf(findings, route.Status, now) };
    puts.push(told);
  }
  return { puts, removals };
};

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
        affected.rebuilt.add(key);
        affected.gateways.add(key);
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
        if (!changesProtocol(view, key)) break;
        for (const user of view.referrers(key)) if (isRoute(user)) affected.bindings.add(user);
        break;
      case 'proxy-defaults':
        if (!changesProtocol(view, key)) break;
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

const isRoute = ({ kind }: EntryKey): boolean => kind === 'http-route' || kind === 'tcp-route';

function addUsers(view: EntryView, certificate: EntryKey, affected: Affected): void {
  for (const user of view.namers(certificate)) {
    if (user.kind === 'api-gateway') affected.gateways.add(user);
  }
}

/** Puts the route where it is bound now, and nowhere else. */
function place(
  bound: BoundRoutes,
  gateway: EntryKey,
  key: EntryKey,
  view: EntryView,
  outcome: (key: EntryKey, route: Route) => RouteOutcome,
): void {
  if (!isRoute(key)) return;
  const reference = referenceTo(key);
  takeOut(bound, reference);
  const route = view.get(key) as Route | undefined;
  if (route === undefined) return;
  const text = textOfKey(gateway);
  const names = outcome(key, route)
    .bindings.filter((binding) => textOfKey(binding.gateway) === text)
    .flatMap(({ listeners }) => listeners);
  putIn(bound, reference, names, servicesOf(route));
}

/** The certificates that a listener names. */
interface ListenerCertificates {
  readonly found: readonly EntryKey[];
  readonly missing: readonly EntryKey[];
  /** RFC 3339 by name: until when those hold of which that is known. */
  readonly ends: readonly { readonly name: string; readonly notAfter: string }[];
}

function certificatesOf(
  { TLS }: GatewayListener,
  view: EntryView,
  described: ReadonlyMap<string, InlineCertificate>,
): ListenerCertificates {
  const keys = (TLS?.Certificates ?? []).map(keyOfReference);
  const entryOf = (key: EntryKey) => described.get(textOfKey(key)) ?? view.get(key);
  return {
    found: keys.filter((key) => entryOf(key) !== undefined),
    missing: keys.filter((key) => entryOf(key) === undefined),
    ends: keys.flatMap((key) => {
      if (key.kind !== 'inline-certificate') return [];
      const notAfter = (entryOf(key) as InlineCertificate | undefined)?.Details?.NotAfter;
      return notAfter === undefined ? [] : [{ name: key.name, notAfter }];
    }),
  };
}

type Certificates = (listener: GatewayListener) => ListenerCertificates;

function boundGateway(
  gateway: ApiGateway,
  bound: BoundRoutes,
  certificates: Certificates,
): BoundApiGateway {
  const { Name, Namespace, Partition, Listeners } = gateway;
  return {
    Kind: 'bound-api-gateway',
    ...{ Name, Namespace, Partition },
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

function findingsOf(
  key: EntryKey,
  gateway: ApiGateway,
  bound: BoundRoutes,
  certificates: Certificates,
): Finding[] {
  const listeners = gateway.Listeners.map((listener) => ({
    listener,
    certificates: certificates(listener),
  }));
  const missing = listeners.flatMap((one) => one.certificates.missing);
  const findings = [
    missing.length > 0
      ? finding('Accepted', false, 'InvalidCertificates', `There is no ${listed(missing)}.`)
      : finding('Accepted', true, 'Accepted', acceptance(listeners)),
  ];
  for (const { listener, certificates: named } of listeners) {
    const resource = referenceTo(key, listener.Name);
    const routes = bound.listeners.get(listener.Name) ?? [];
    findings.push(
      listener.Protocol === 'tcp' && routes.length > 1
        ? finding('Conflicted', true, 'RouteConflict', conflict(routes), resource)
        : finding('Conflicted', false, 'NoConflict', 'No two routes want the same.', resource),
      named.missing.length > 0
        ? finding(
            'ResolvedRefs',
            false,
            'InvalidCertificateRef',
            `There is no ${listed(named.missing)}.`,
            resource,
          )
        : finding('ResolvedRefs', true, 'ResolvedRefs', 'All that it names is there.', resource),
    );
  }
  return findings;
}

const listed = (keys: readonly EntryKey[]): string =>
  [...new Set(keys.map(({ kind, name }) => `${kind} "${name}"`))].join(' and no ');

const conflict = (routes: readonly { readonly Name: string }[]): string =>
  `Nothing tells the connections of ${routes.length} routes apart: ${routes
    .slice(0, 5)
    .map(({ Name }) => `"${Name}"`)
    .join(', ')}${routes.length > 5 ? ', …' : ''}.`;

/** Tells what ends first: time passes without a write, so whether it has ended is the reader's to see. */
function acceptance(listeners: readonly { readonly certificates: ListenerCertificates }[]): string {
  const ends = listeners.flatMap(({ certificates }) => certificates.ends);
  const first = ends.sort(
    (left, right) => Date.parse(left.notAfter) - Date.parse(right.notAfter),
  )[0];
  const told = 'The gateway is accepted.';
  if (first === undefined) return told;
  return `${told} Of its certificates "${first.name}" ends first, at ${first.notAfter}.`;
}
