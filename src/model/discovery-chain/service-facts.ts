import type { ConfigEntry } from '../config-entry/config-entry.ts';
import type { EntryView, ServiceName } from '../config-entry/kind.ts';
import type { ServiceDefaults } from '../config-entry/service-defaults.ts';
import type { ServiceResolver } from '../config-entry/service-resolver.ts';
import { defaultsOf, protocolFrom, proxyDefaultsOf } from './protocol.ts';
import { serviceId } from './target-name.ts';

/**
 * The facts of a service from its entries. They are looked up once, as a chain needs them again and again.
 */
export interface ServiceFacts {
  readonly id: string;
  readonly resolver: ServiceResolver | undefined;
  readonly defaults: ServiceDefaults | undefined;
  readonly protocol: string;
  /** The entry that gives the protocol, if any. */
  readonly protocolEntry: ConfigEntry | undefined;
  /** The mode of the gateway to the service; empty: not set. */
  readonly gatewayMode: string;
}

export function serviceFacts(view: EntryView, service: ServiceName): ServiceFacts {
  const { partition, namespace, name } = service;
  const defaults = defaultsOf(view, service);
  const proxy = proxyDefaultsOf(view, partition);
  const { protocol, entry } = protocolFrom(defaults, proxy);
  const resolver = view.get({ partition, namespace, name, kind: 'service-resolver' });
  return {
    id: serviceId(service),
    resolver: resolver as ServiceResolver | undefined,
    defaults,
    protocol,
    protocolEntry: entry,
    gatewayMode: defaults?.MeshGateway.Mode || proxy?.MeshGateway.Mode || '',
  };
}
