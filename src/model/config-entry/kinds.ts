import { AssertionError } from '../../base/assert.ts';
import { apiGateway } from './api-gateway.ts';
import { boundApiGateway } from './bound-api-gateway.ts';
import { type ConfigEntry, type ConfigKindName, configKinds } from './config-entry.ts';
import { exportedServices } from './exported-services.ts';
import { fileSystemCertificate } from './file-system-certificate.ts';
import { httpRoute } from './http-route.ts';
import { ingressGateway } from './ingress-gateway.ts';
import { inlineCertificate } from './inline-certificate.ts';
import type { ConfigKind } from './kind.ts';
import { mesh } from './mesh.ts';
import { proxyDefaults } from './proxy-defaults.ts';
import { serviceDefaults } from './service-defaults.ts';
import { serviceIntentions } from './service-intentions.ts';
import { serviceResolver } from './service-resolver.ts';
import { serviceRouter } from './service-router.ts';
import { serviceSplitter } from './service-splitter.ts';
import { tcpRoute } from './tcp-route.ts';
import { terminatingGateway } from './terminating-gateway.ts';

/** A kind without its own type: its functions only get entries of the kind. */
const kind = <E extends ConfigEntry>(one: ConfigKind<E>) => one as unknown as ConfigKind;

/** Every kind, in the order of their names. */
export const kinds: readonly ConfigKind[] = [
  kind(apiGateway),
  kind(boundApiGateway),
  kind(exportedServices),
  kind(fileSystemCertificate),
  kind(httpRoute),
  kind(ingressGateway),
  kind(inlineCertificate),
  kind(mesh),
  kind(proxyDefaults),
  kind(serviceDefaults),
  kind(serviceIntentions),
  kind(serviceResolver),
  kind(serviceRouter),
  kind(serviceSplitter),
  kind(tcpRoute),
  kind(terminatingGateway),
];

const byName = new Map<string, ConfigKind>(kinds.map((one) => [one.kind, one]));

/** The kind of that name; `undefined` if there is none. */
export const findKind = (name: string): ConfigKind | undefined => byName.get(name);

export function kindOf(name: ConfigKindName): ConfigKind {
  const found = byName.get(name);
  if (found === undefined) throw new AssertionError(`${name} is one of ${configKinds.join(', ')}`);
  return found;
}
