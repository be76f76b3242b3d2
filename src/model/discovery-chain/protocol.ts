import type { ConfigEntry, EntryKey } from '../config-entry/config-entry.ts';
import type { EntryView, ServiceName } from '../config-entry/kind.ts';
import type { ProxyDefaults } from '../config-entry/proxy-defaults.ts';
import type { ServiceDefaults } from '../config-entry/service-defaults.ts';

export const defaultsOf = (view: EntryView, service: ServiceName): ServiceDefaults | undefined =>
  view.get({ ...service, kind: 'service-defaults' }) as ServiceDefaults | undefined;

export const proxyDefaultsOf = (view: EntryView, partition: string): ProxyDefaults | undefined =>
  view.get({ partition, namespace: 'default', kind: 'proxy-defaults', name: 'global' }) as
    | ProxyDefaults
    | undefined;

/** The protocol if no entry gives another. */
const plainProtocol = 'tcp';
const http = new Set(['http', 'http2', 'grpc']);

/** Whether single requests can be told apart, so that they can be routed and split. */
export const isHttpLike = (protocol: string): boolean => http.has(protocol);

interface Spoken {
  readonly protocol: string;
  /** The entry that gives the protocol, if any. */
  readonly entry: ConfigEntry | undefined;
}

/** The protocol of a service. Source: docs/behaviour/configuration.md#protocols. */
export const protocolOf = (view: EntryView, service: ServiceName): Spoken =>
  protocolFrom(defaultsOf(view, service), proxyDefaultsOf(view, service.partition));

export function protocolFrom(
  defaults: ServiceDefaults | undefined,
  proxy: ProxyDefaults | undefined,
): Spoken {
  if (defaults !== undefined && defaults.Protocol !== '') {
    return { protocol: defaults.Protocol, entry: defaults };
  }
  const protocol = proxy?.Config?.protocol;
  if (typeof protocol !== 'string' || protocol === '') {
    return { protocol: plainProtocol, entry: undefined };
  }
  return { protocol: protocol.toLowerCase(), entry: proxy };
}

/** Whether the write changed the protocol that the entry gives. */
export function changesProtocol(view: EntryView, key: EntryKey): boolean {
  const [before, now] = [view.before(key), view.get(key)].map((entry) => saidBy(key, entry));
  return before !== now;
}

/** Whether the write changed the protocol that the entry gives, unless both protocols tell requests apart. */
export function changesRouting(view: EntryView, key: EntryKey): boolean {
  const said = [view.before(key), view.get(key)].map((entry) => saidBy(key, entry));
  const [before, now] = said;
  return before !== now && !said.every((protocol) => isHttpLike(protocol ?? ''));
}

const saidBy = ({ kind }: EntryKey, entry: ConfigEntry | undefined): string | undefined =>
  kind === 'service-defaults'
    ? (entry as ServiceDefaults | undefined)?.Protocol || undefined
    : protocolFrom(undefined, entry as ProxyDefaults | undefined).protocol;
