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

/** Where no entry says what is spoken. */
const plainProtocol = 'tcp';
const http = new Set(['http', 'http2', 'grpc']);

/** Whether requests can be told apart, so that they can be routed and split. */
export const isHttpLike = (protocol: string): boolean => http.has(protocol);

interface Spoken {
  readonly protocol: string;
  /** The entry that says so, if there is one. */
  readonly entry: ConfigEntry | undefined;
}

/** What a service speaks. Source: docs/behaviour/configuration.md#protocols. */
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

/** Whether the entry, which may say what services speak, says another thing than before the write. */
export function changesProtocol(view: EntryView, key: EntryKey): boolean {
  const [before, now] = [view.before(key), view.get(key)].map((entry) => saidBy(key, entry));
  return before !== now;
}

/** The same, but for one in whose place another is spoken that tells requests apart as well. */
export function changesRouting(view: EntryView, key: EntryKey): boolean {
  const said = [view.before(key), view.get(key)].map((entry) => saidBy(key, entry));
  const [before, now] = said;
  return before !== now && !said.every((protocol) => isHttpLike(protocol ?? ''));
}

const saidBy = ({ kind }: EntryKey, entry: ConfigEntry | undefined): string | undefined =>
  kind === 'service-defaults'
    ? (entry as ServiceDefaults | undefined)?.Protocol || undefined
    : protocolFrom(undefined, entry as ProxyDefaults | undefined).protocol;
