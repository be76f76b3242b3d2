/**
 * Detects requests from pages of foreign sites in a browser. Such a page has no token, so it could
 * only use permissions that need none.
 *
 * Pages of a foreign site are detected by `Origin` or `Sec-Fetch-Site`. A page whose own host name
 * resolves to this server (DNS rebinding) is detected by `Host`, which contains that name.
 */
import { header, type Request } from './http.ts';

/** The host names of this server, besides addresses and the names of the machine itself. */
export type OwnHosts = ReadonlySet<string>;

/** Names are compared without case. A leading dot covers all names below. */
export const ownHosts = (names: readonly string[]): OwnHosts =>
  new Set(names.map((name) => name.toLowerCase().replace(/\.$/, '')));

/** The header of a foreign site with its value; `undefined`: none. */
export function foreignHeader(
  request: Pick<Request, 'headers'>,
  hosts: OwnHosts,
): { readonly name: string; readonly value: string } | undefined {
  const of = (name: string) => header(request as Request, name);
  const host = of('host');
  if (host !== undefined && !isOwn(nameIn(host), hosts)) return { name: 'Host', value: host };
  return foreignPage(request, hosts);
}

/** As {@link foreignHeader}, where the host name does not matter: the request of a page has a token. */
export function foreignPage(
  request: Pick<Request, 'headers'>,
  hosts: OwnHosts,
): { readonly name: string; readonly value: string } | undefined {
  const of = (name: string) => header(request as Request, name);
  const host = of('host');
  const origin = of('origin');
  if (origin !== undefined && !isSameOrigin(origin, host, hosts)) {
    return { name: 'Origin', value: origin };
  }
  const site = of('sec-fetch-site');
  const isFromPage = site === 'cross-site' || site === 'same-site';
  if (isFromPage && origin === undefined) return { name: 'Sec-Fetch-Site', value: site };
  return undefined;
}

/** The host in `host:port`, without brackets and in lower case. */
function nameIn(host: string): string {
  const [, name = ''] = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host.trim()) ?? [];
  return name
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

/** A foreign site cannot have an address as its origin. */
const isAddress = (name: string): boolean => /^[\d.]+$/.test(name) || name.includes(':');

function isOwn(name: string, hosts: OwnHosts): boolean {
  if (isAddress(name) || name === 'localhost' || name.endsWith('.localhost')) return true;
  if (hosts.has(name)) return true;
  const parts = name.split('.');
  return parts.some((_, at) => at > 0 && hosts.has(`.${parts.slice(at).join('.')}`));
}

function isSameOrigin(origin: string, host: string | undefined, hosts: OwnHosts): boolean {
  const url = URL.parse(origin);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  const asked = URL.parse(`${url.protocol}//${host ?? ''}`);
  if (asked !== null && asked.host === url.host) return true;
  // A proxy may use another host name for the server than browsers do.
  const name = nameIn(url.hostname);
  return !isAddress(name) && !name.endsWith('localhost') && isOwn(name, hosts);
}
