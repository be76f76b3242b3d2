import { lookup } from 'node:dns/promises';
import { isIPv6, type LookupFunction } from 'node:net';
import type { Resolve } from './server-choice.ts';

/** As the system looks names up. */
export const resolveName: Resolve = async (host) => {
  const found = await lookup(host, { all: true });
  return [...new Set(found.map(({ address }) => address))];
};

/** Options of a connection to the machine with this address, whose certificate is for the host name. */
export const pinnedTo = (ip: string | undefined): { readonly lookup?: LookupFunction } =>
  ip === undefined ? {} : { lookup: lookupOf({ address: ip, family: isIPv6(ip) ? 6 : 4 }) };

const lookupOf =
  (only: { readonly address: string; readonly family: number }): LookupFunction =>
  (_host, { all }, callback) =>
    all ? callback(null, [only]) : callback(null, only.address, only.family);
