/**
 * Whether a request comes from a page of somebody else that a browser shows. Such a page has no
 * token, so it could act only with rights that need none.
 *
 * A page of a foreign site is known by its `Origin` or by `Sec-Fetch-Site`. A page that had its own name
 * point to this server (DNS rebinding) is known by `Host`, which still has that name.
 */
import { header, type Request } from './http.ts';

/** Names under which this server is asked, besides addresses and the names of the machine itself. */
export type OwnHosts = ReadonlySet<string>;

/** A name, or with a dot before it all names below that one; compared without case. */
export const ownHosts = (names: readonly string[]): OwnHosts =>
  new Set(names.map((name) => name.toLowerCase().replace(/\.$/, '')));

/** The header that tells of a foreign site, with its value; `undefined`: none does. */
export function foreignHeader(
  request: Pick<Request, 'headers'>,
  hosts: OwnHosts,
): { readonly name: string; readonly value: string } | undefined {
  const of = (name: string) => header(request as Request, name);
  const host = of('host');
  if (host !== undefined && !isOwn(nameIn(host), hosts)) return { name: 'Host', value: host };
  const origin = of('origin');
  if (origin !== undefined && !isSameOrigin(origin, host, hosts)) {
    return { name: 'Origin', value: origin };
  }
  const site = of('sec-fetch-site');
  const isFromPage = site === 'cross-site' || site === 'same-site';
  if (isFromPage && origin === undefined) return { name: 'Sec-Fetch-Site', value: site };
  return undefined;
}

/** The name or the address in `name:port`, without brackets and in lower case. */
function nameIn(host: string): string {
  const [, name = ''] = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host.trim()) ?? [];
  return name
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

/** No name of somebody else leads to an address: nobody can make a page of that origin elsewhere. */
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
  // Whatever stands before the server may ask it under another name than browsers use.
  const name = nameIn(url.hostname);
  return !isAddress(name) && !name.endsWith('localhost') && isOwn(name, hosts);
}
