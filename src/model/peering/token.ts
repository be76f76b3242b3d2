import { X509Certificate } from 'node:crypto';
import { limits } from '../limits.ts';
import { quote } from '../path.ts';
import { isServerAddress } from './rules.ts';

/**
 * The data by which another cluster peers with this one, once. Opaque to the people who pass it on.
 * Source: docs/behaviour/peering.md#peering-tokens.
 */
export interface PeeringToken {
  /** Certificates (PEM); empty: connections to the servers are without TLS. */
  readonly caPems: readonly string[];
  /** Addresses that are tried first. */
  readonly manualAddresses: readonly string[];
  readonly addresses: readonly string[];
  readonly serverName: string;
  /** The id of the peering at the cluster that made the token. */
  readonly peerId: string;
  readonly secret: string;
  readonly partition: string;
  readonly datacenter: string;
}

export function encodeToken(token: PeeringToken): string {
  const text = JSON.stringify({
    CA: token.caPems,
    ManualServerAddresses: token.manualAddresses,
    ServerAddresses: token.addresses,
    ServerName: token.serverName,
    PeerID: token.peerId,
    EstablishmentSecret: token.secret,
    Remote: { Partition: token.partition, Datacenter: token.datacenter },
  });
  return Buffer.from(text).toString('base64');
}

/** A faulty token. The message ends a sentence, and repeats nothing that may be secret. */
export class TokenFault extends Error {
  override readonly name = 'TokenFault';
}

/** @throws TokenFault */
export function decodeToken(text: string): PeeringToken {
  const raw = rawOf(text.trim());
  const remote = isRecord(raw.Remote) ? raw.Remote : {};
  const token = {
    caPems: textsIn(raw, 'CA'),
    manualAddresses: textsIn(raw, 'ManualServerAddresses'),
    addresses: textsIn(raw, 'ServerAddresses'),
    serverName: textIn(raw, 'ServerName'),
    peerId: textIn(raw, 'PeerID'),
    secret: textIn(raw, 'EstablishmentSecret'),
    partition: textIn(remote, 'Partition'),
    datacenter: textIn(remote, 'Datacenter'),
  };
  const fault = faultOf(token);
  if (fault !== undefined) throw new TokenFault(fault);
  return token;
}

/** The content of a token cannot be shown, so each fault has its own sentence. */
function faultOf(token: PeeringToken): string | undefined {
  const { caPems, manualAddresses, addresses, serverName, peerId, secret } = token;
  const all = [...manualAddresses, ...addresses];
  if (all.length === 0) return 'peering token server addresses value is empty';
  if (all.length > 2 * limits.peering.addressesMax) {
    return `peering token has more than ${2 * limits.peering.addressesMax} server addresses`;
  }
  const wrong = all.find((address) => !isServerAddress(address));
  if (wrong !== undefined) return `${quote(wrong)} is not a valid peering server address`;
  if (serverName === '') return 'peering token server name value is empty';
  if (peerId === '') return 'peering token peer ID value is empty';
  if (!uuidForm.test(peerId)) return 'peering token peer ID value is no UUID';
  if (secret === '') return 'peering token establishment secret value is empty';
  for (const pem of caPems) {
    const reason = certificateFault(pem);
    if (reason !== undefined) return `peering token invalid CA: ${reason}`;
  }
  const longest = [serverName, secret, token.partition, token.datacenter];
  if (longest.some((value) => value.length > limits.names.lengthMax || value.includes('\0'))) {
    return 'peering token has a value that is too long, or has a NUL character';
  }
  return undefined;
}

export const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function rawOf(text: string): Readonly<Record<string, unknown>> {
  const failed = (reason: string) => new TokenFault(`failed to decode token: ${reason}`);
  if (text.length > limits.peering.tokenLengthMax) {
    throw failed(`it is longer than ${limits.peering.tokenLengthMax} characters`);
  }
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) throw failed('it is not base64');
  let raw: unknown;
  try {
    raw = JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
  } catch {
    // The message of the caught error would quote the text.
    throw failed('it is cut off, or not a peering token');
  }
  if (!isRecord(raw)) throw failed('it is not a peering token');
  return raw;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function textIn(raw: Readonly<Record<string, unknown>>, name: string): string {
  const value = raw[name] ?? '';
  if (typeof value === 'string') return value;
  throw new TokenFault(`failed to decode token: ${name} must be text`);
}

function textsIn(raw: Readonly<Record<string, unknown>>, name: string): readonly string[] {
  const value = raw[name] ?? [];
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  throw new TokenFault(`failed to decode token: ${name} must be a list of texts`);
}

/** The fault of a text that must be PEM with certificates. */
export function certificateFault(pem: string): string | undefined {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) return 'it is not PEM with a certificate';
  try {
    for (const block of blocks) new X509Certificate(block);
    return undefined;
  } catch {
    return 'it holds a certificate that cannot be read';
  }
}
