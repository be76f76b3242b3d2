import type { ConfigEntry } from '../config-entry/config-entry.ts';
import type { EntryView, ServiceName } from '../config-entry/kind.ts';
import type { ProxyDefaults } from '../config-entry/proxy-defaults.ts';
import type { ServiceDefaults } from '../config-entry/service-defaults.ts';

export const defaultsOf = (view: EntryView, service: ServiceName): ServiceDefaults | undefined =>
  view.get({ ...service, kind: 'service-defaults' }) as ServiceDefaults | undefined;

export const proxyDefaultsOf = (view: EntryView, partition: string): ProxyDefaults | undefined =>
  view.get({ partition, namespace: 'default', kind: 'proxy-defaults', name: 'global' }) as
    | ProxyDefaults
    | undefined;

/** Where no entry says what is spoken. */
const plainProtocol = 'tcp';
const http = new Set(['http', 'http2', 'grpc']);

/** Whether requests can be told apart, so that they can be routed and split. */
export const isHttpLike = (protocol: string): boolean => http.has(protocol);

/** Who says what a service speaks, and what. Source: facts/registry.md §5.1. */
export function protocolOf(
  view: EntryView,
  service: ServiceName,
): { readonly protocol: string; readonly entry: ConfigEntry | undefined } {
  const defaults = defaultsOf(view, service);
  if (defaults !== undefined && defaults.Protocol !== '') {
    return { protocol: defaults.Protocol, entry: defaults };
  }
  const proxy = proxyDefaultsOf(view, service.partition);
  const protocol = proxy?.Config?.protocol;
  if (typeof protocol !== 'string' || protocol === '') {
    return { protocol: plainProtocol, entry: undefined };
  }
  return { protocol: protocol.toLowerCase(), entry: proxy };
}
