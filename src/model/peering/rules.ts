import type { Fault } from '../errors.ts';
import { limits } from '../limits.ts';
import { below, faultAt, quote } from '../path.ts';

const nameForm = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Faults of the name of a peer. Source: docs/contract/peering.md#names-of-peers. */
export function peerNameFaults(name: string, doing: string): Fault[] {
  if (nameForm.test(name)) return [];
  const message =
    name === ''
      ? `is required in the payload when ${doing}`
      : `${quote(name)} is not a valid peer name: it must be a DNS label of 1 to 63 lower-case letters, digits and "-", and begin and end with a letter or a digit`;
  return [faultAt(below(null, 'PeerName'), message)];
}

const hostForm =
  /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/i;

/** Whether the text is `host:port`, with an IPv6 address in brackets. */
export function isServerAddress(address: string): boolean {
  const mark = address.lastIndexOf(':');
  const [host, port] = [address.slice(0, mark), address.slice(mark + 1)];
  if (mark <= 0 || !/^[1-9]\d{0,4}$/.test(port) || Number(port) > limits.network.portMax) {
    return false;
  }
  const isIpv6 = /^\[[0-9a-f:.]+\]$/i.test(host);
  if (!isIpv6 && (host.length > 253 || !hostForm.test(host))) return false;
  // `URL` rejects malformed IP addresses.
  return URL.parse(`http://${host}/`) !== null;
}

/** Faults of the addresses that a caller gives. The codec told of holes already. */
export function addressFaults(addresses: readonly (string | undefined)[], field: string): Fault[] {
  const most = limits.peering.addressesMax;
  if (addresses.length > most) {
    return [faultAt(below(null, field), `must have at most ${most} addresses`)];
  }
  return addresses.flatMap((address, index) => {
    if (address === undefined || isServerAddress(address)) return [];
    const message = `must be "host:port", with an IPv6 address in brackets, got ${quote(address)}`;
    return [faultAt(below(null, field, index), message)];
  });
}

const metaKeyForm = /^[A-Za-z0-9_-]+$/;

/**
 * Faults of the meta of a peering, with the limits of a service's meta. The codec told of values that are not
 * text.
 */
export function peeringMetaFaults(meta: Readonly<Record<string, unknown>>): Fault[] {
  const { metaPairsMax, metaKeyLengthMax, metaValueLengthMax } = limits.config;
  const entries = Object.entries(meta);
  if (entries.length > metaPairsMax) {
    return [faultAt(below(null, 'Meta'), `must have at most ${metaPairsMax} entries`)];
  }
  return entries.flatMap(([key, value]) => {
    const at = below(null, 'Meta', key.slice(0, limits.fault.quotedLengthMax));
    if (!metaKeyForm.test(key) || key.length > metaKeyLengthMax) {
      const form = `letters, digits, "-" and "_", at most ${metaKeyLengthMax}`;
      return [faultAt(at, `must have a name of ${form}`)];
    }
    if (typeof value !== 'string' || value.length <= metaValueLengthMax) return [];
    return [faultAt(at, `must be at most ${metaValueLengthMax} characters long`)];
  });
}
