/**
 * The conditions of a gateway, its listeners and the certificates that they name.
 * Source: docs/behaviour/gateways.md#status.
 */
import type { ApiGateway, GatewayListener } from './api-gateway.ts';
import type { BoundRoutes } from './bound-listeners.ts';
import type { EntryKey } from './config-entry.ts';
import { type Finding, finding, findingAbout } from './gateway-status.ts';
import type { InlineCertificate } from './inline-certificate.ts';
import type { EntryView } from './kind.ts';
import { keyOfReference, referenceTo, textOfKey } from './resource-reference.ts';

/** The certificates that a listener names. */
export interface ListenerCertificates {
  readonly found: readonly EntryKey[];
  readonly missing: readonly EntryKey[];
  /** Expiry (RFC 3339) of each readable certificate, by name. */
  readonly ends: readonly { readonly name: string; readonly notAfter: string }[];
}

export function certificatesOf(
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

export type Certificates = (listener: GatewayListener) => ListenerCertificates;

/** The findings about a gateway and each of its listeners. */
export function findingsOf(
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
    const conflicted =
      listener.Protocol === 'tcp' && routes.length > 1
        ? finding('Conflicted', true, 'RouteConflict', conflict(routes))
        : finding('Conflicted', false, 'NoConflict', 'No two routes want the same.');
    const missing = `There is no ${listed(named.missing)}.`;
    const resolved =
      named.missing.length > 0
        ? finding('ResolvedRefs', false, 'InvalidCertificateRef', missing)
        : finding('ResolvedRefs', true, 'ResolvedRefs', 'All that it names is there.');
    findings.push(findingAbout(resource, conflicted), findingAbout(resource, resolved));
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

/**
 * The certificate that ends first is named. Time passes without a write, so the reader has to compare it with
 * the clock.
 */
function acceptance(listeners: readonly { readonly certificates: ListenerCertificates }[]): string {
  const ends = listeners.flatMap(({ certificates }) => certificates.ends);
  const first = ends.sort(
    (left, right) => Date.parse(left.notAfter) - Date.parse(right.notAfter),
  )[0];
  const told = 'The gateway is accepted.';
  if (first === undefined) return told;
  return `${told} Of its certificates "${first.name}" ends first, at ${first.notAfter}.`;
}
