/**
 * An entry is not deleted while other entries use it. This file has the rules for API gateways and their
 * routes; `graph.ts` and `ingress-checks.ts` have those for chains, intentions and ingress gateways.
 * Source: docs/behaviour/configuration.md#deleting-an-entry-in-use.
 *
 * Invariants
 *
 *  U1. Only a deletion is refused here. An entry may name another entry that does not exist yet, and its
 *      `Status` tells the effect of a change.
 *  U2. The users can be deleted or changed first: routes use gateways and the protocols of services,
 *      gateways use certificates, and nothing uses a route.
 */
import { protocolOf } from '../discovery-chain/protocol.ts';
import { limits } from '../limits.ts';
import type { ApiGateway } from './api-gateway.ts';
import type { EntryKey } from './config-entry.ts';
import type { HttpRoute } from './http-route.ts';
import type { CrossCheck, EntryView } from './kind.ts';
import { keyOfReference, textOfKey } from './resource-reference.ts';
import { servicesNotHttp } from './route-bindings.ts';
import { scopeWords } from './scope-words.ts';

export const checkInUse: CrossCheck = (view, changed) => {
  const sentences = new Set<string>();
  for (const key of changed) {
    if (view.get(key) !== undefined || view.before(key) === undefined) continue;
    for (const sentence of usesOf(view, key)) {
      if (sentences.size >= limits.fault.listedMax) return [...sentences];
      sentences.add(sentence);
    }
  }
  return [...sentences];
};

function* usesOf(view: EntryView, key: EntryKey): Iterable<string> {
  switch (key.kind) {
    case 'inline-certificate':
    case 'file-system-certificate':
      for (const user of view.namers(key)) yield `${named(user, key)} ${shownBy(view, user, key)}`;
      break;
    case 'api-gateway':
      for (const user of view.namers(key)) yield `${named(user, key)} names it as a parent`;
      break;
    case 'service-defaults':
      yield* routesWithout(view, key, view.referrers(key));
      break;
    case 'proxy-defaults':
      yield* routesWithout(view, key, view.namers(key));
      break;
  }
}

const named = (user: EntryKey, used: EntryKey): string =>
  `the ${user.kind} "${user.name}"${scopeWords(user, used)}`;

function shownBy(view: EntryView, user: EntryKey, certificate: EntryKey): string {
  const gateway = view.get(user) as ApiGateway | undefined;
  const text = textOfKey(certificate);
  const listeners = (gateway?.Listeners ?? [])
    .filter(({ TLS }) => TLS?.Certificates.some((one) => textOfKey(keyOfReference(one)) === text))
    .map(({ Name }) => `"${Name}"`);
  return `names it for its ${listeners.length === 1 ? 'listener' : 'listeners'} ${listeners.join(', ')}`;
}

/** The http-routes that are no longer accepted once the entry no longer gives the protocol of services. */
function* routesWithout(
  view: EntryView,
  key: EntryKey,
  users: Iterable<EntryKey>,
): Iterable<string> {
  const asItWas: EntryView = { ...view, get: view.before };
  for (const user of users) {
    if (user.kind !== 'http-route') continue;
    const route = view.get(user) as HttpRoute | undefined;
    if (route === undefined || servicesNotHttp(route, asItWas).length > 0) continue;
    for (const service of servicesNotHttp(route, view)) {
      const { protocol } = protocolOf(view, service);
      yield `${named(user, key)} leads to the service "${service.name}", which would speak ${protocol}, and an http-route leads to http, http2 or grpc`;
    }
  }
}
